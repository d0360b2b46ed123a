/**
 * Causes faults in the running system. The first ten lines of debug must name the cause and the next command.
 * The test runs that command unchanged, and the request must make progress. `npm test` plants ten of the
 * problems; `npm run proof` plants the others.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ModelServer, startModelServer } from "@planwright/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ChangingServer, plainTool, startChangingServer } from "../../tools/test/changing-server.ts";
import { type CliStack, startCliStack, statusOf } from "./cli-stack.ts";
import { planwright, type Ran, start, startProcess } from "./planwright.ts";

let system: CliStack;
/** A server whose tools change. */
let shop: ChangingServer;
const ACTS = { annotations: { readOnlyHint: false } };
const sendTool = (...required: string[]) =>
  plainTool("sendParcel", {
    ...ACTS,
    inputSchema: { type: "object", properties: { to: {}, weight: {} }, required },
  });

beforeAll(async () => {
  shop = await startChangingServer([sendTool("to"), plainTool("packParcel", ACTS)]);
  system = await startCliStack(() => ({ shop: { url: shop.url, trusted: true } }));
});
afterAll(async () => {
  await system?.close();
  await shop?.close();
});

const hasEnded = ({ status }: { status: string }) =>
  ["COMPLETED", "PARTIAL", "FAILED", "CANCELLED"].includes(status);

/** The first ten lines of the report. */
async function head(requestId: string): Promise<string> {
  const { exitCode, stdout, stderr } = await system.cli("debug", requestId);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(stdout).toMatch(/^\S \S*req_/);
  return stdout.split("\n").slice(0, 10).join("\n");
}

/** Runs a command that a report prints; by default the first one. @param value - in place of each … in it */
async function typeNext(report: string, index = 0, value = ""): Promise<Ran> {
  const commands = report.split("\n").flatMap((line) => /^ {10}(planwright .*)$/.exec(line)?.[1] ?? []);
  const command = commands[index];
  if (command === undefined) throw new TypeError(`No command ${index} is printed: ${report}`);
  return system.shell(command.replaceAll("…", value));
}

/** Runs the command, and waits until the request completes. */
async function typeToEnd(requestId: string, index = 0, value = ""): Promise<void> {
  const report = await head(requestId);
  const ran = await typeNext(report, index, value);
  expect({ report, ...ran }).toMatchObject({ exitCode: 0 });
  const followed = /req_\d{10}_[a-z0-9]+/.exec(ran.stdout)?.[0] ?? requestId;
  expect(await system.until(followed, hasEnded)).toMatchObject({ status: "COMPLETED" });
}

/** The tools of the counting server that had an effect with this value, in order. */
async function effectsOf(value: string): Promise<string[]> {
  const ledger = await system.tools().ledger();
  return ledger.flatMap(({ tool, arguments: args }) => (args["value"] === value ? [tool] : []));
}

/** A plan that waits for an approval before it calls a tool of the changing server. */
async function plantParcel(tool: string): Promise<string> {
  const requestId = await system.submit([
    { id: "ask", tool: "set_value", arguments: { value: tool } },
    { id: "send", tool, arguments: { to: "Ann" }, dependsOn: ["ask"] },
  ]);
  await system.until(requestId, ({ plan }) => plan?.status === "WAITING");
  return requestId;
}

/** Approves the call that a plan waits for, with the printed command. */
async function approve(requestId: string): Promise<void> {
  expect(await typeNext(await head(requestId))).toMatchObject({ exitCode: 0 });
}

/** Waits until `tools NAME` shows the current tool. */
async function untilShown(tool: string, text: RegExp): Promise<void> {
  const shown = async () => (await system.cli("tools", tool)).stdout;
  await expect.poll(shown, { timeout: 30_000, interval: 200 }).toMatch(text);
}

/** Writes the corrected plan to the file that the report names. */
function writePlan(...steps: object[]): void {
  writeFileSync(join(system.folder, "plan.json"), JSON.stringify({ steps }));
}

const ONCE = { maxAttempts: 1 };

test("tool down: the unreachable server is named, during the retries and after", {
  tags: ["proof"],
}, async () => {
  await system.stopTools();
  const trying = await system.submit([
    {
      id: "look",
      tool: "read_value",
      arguments: { value: 1 },
      retry: { initialMs: 600_000, maxMs: 600_000, maxAttempts: 1 },
    },
  ]);
  await system.until(trying, (read) => statusOf(read, "look") === "RETRYING");
  const during = await head(trying);
  expect(during).toMatch(
    /step look \(read_value\) waits for server "counting", which cannot be reached since 20\S+Z \(.*\): Server counting cannot be reached/,
  );
  expect(during).toMatch(/Tried 1 time, .*; it is tried again .*, by itself, and given up at 20\S+Z/);
  expect(during).toContain("TOOL_UNREACHABLE");
  expect(during).toContain('Bring "counting" back; it continues by itself');
  expect(during).toContain(`planwright watch ${trying}`);

  const failed = await system.submit([{ id: "look", tool: "read_value", arguments: { value: 1 } }], {
    policy: { unreachableMs: 0 },
  });
  await system.until(failed, hasEnded);
  const after = await head(failed);
  expect(after).toContain("step look (read_value) failed: Server counting cannot be reached");
  expect(after).toContain("nothing was called");
  expect(after).toContain('Bring "counting" back; then');
  expect(after).toContain(`planwright retry ${failed}`);

  // The printed command helps.
  await system.startTools();
  await typeToEnd(failed);
  await system.cli("cancel", trying);
});

test("wrong argument: the argument is named, when it comes from another step and when it comes from the sentence", async () => {
  const made = await system.submit([
    { id: "look", tool: "read_value", arguments: { value: "no-email" } },
    { id: "author", tool: "createAuthor", arguments: { name: "A", email: "<<look.value>>" } },
  ]);
  await system.until(made, hasEnded);
  const atRun = await head(made);
  expect(atRun).toMatch(/Cause {3}step author \(createAuthor\) failed: .*email.* \(ARGUMENTS_INVALID\)/);
  expect(atRun).toContain("The call was not made");
  expect(atRun).toContain(`planwright retry ${made} --set 'author.email=…'`);
  // As printed, it is refused: a placeholder is no value.
  expect(await typeNext(atRun, 0, "…")).toMatchObject({
    exitCode: 4,
    stderr: expect.stringContaining("Write the value in place of …"),
  });
  await typeToEnd(made, 0, "planted.a@test.com");

  const refused = await system.cli("run", "--json", "Create author Zed with email nobody");
  const known = /req_\d{10}_[a-z0-9]+/.exec(refused.stdout)?.[0] ?? "";
  expect(await head(known)).toMatch(/Cause {3}.*email/);
});

test("wrong argument in a submitted plan: the argument is named, and the command that sends the plan again", {
  tags: ["proof"],
}, async () => {
  const steps = [
    { id: "look", tool: "read_value", arguments: { value: "Ann" } },
    { id: "author", tool: "createAuthor", arguments: { name: "<<look.value>>", emial: "ann@test.com" } },
  ];
  const input = JSON.stringify({ steps });
  const callsOfTool = () => system.tools().stats()["read_value"]?.calls;
  const before = callsOfTool();
  const refused = await planwright(["submit", "-", "--execute"], { env: system.env, input });
  expect(refused).toMatchObject({ exitCode: 1, stdout: "" });
  const requestId = /Stored under (req_\d{10}_[a-z0-9]+)/.exec(refused.stderr)?.[1] ?? "";
  const report = await head(requestId);
  expect(report).toContain(
    "Cause   step author: argument email is required (tool createAuthor) (ARGUMENT_MISSING)",
  );
  expect(report).toContain("argument emial does not exist; did you mean email?");
  expect(report).toMatch(/Why {5}.*nothing was executed/);
  expect(report).toMatch(/Next {4}.*\n\s+planwright submit plan\.json --execute/);
  expect(callsOfTool()).toBe(before);
  writePlan({
    id: "author",
    tool: "createAuthor",
    arguments: { name: "Ann", email: "planted.ann@test.com" },
  });
  await typeToEnd(requestId);
});

test("tool failed: its message, the command that corrects the plan, and the command that calls it again", async () => {
  const act = { id: "act", tool: "keyed_effect", arguments: { value: 1 }, retry: ONCE };
  system.tools().script({ keyed_effect: [{ type: "tool-error", message: "the till is closed" }] });
  const requestId = await system.submit([act]);
  await system.until(requestId, hasEnded);
  const report = await head(requestId);
  expect(report).toContain("Cause   step act (keyed_effect) failed: the till is closed (TOOL_FAILED)");
  expect(report).toContain("planwright retry");
  await typeToEnd(requestId);
});

test("a version that did worse: by how much, and the command that restores the earlier one", {
  tags: ["proof"],
}, async () => {
  const look = { id: "look", tool: "read_value", arguments: { value: 1 } };
  const act = { id: "act", tool: "keyed_effect", arguments: { value: "<<look.value>>" }, retry: ONCE };
  system.tools().script({ keyed_effect: [{ type: "tool-error", message: "the till is closed" }] });
  const requestId = await system.submit([look, act]);
  await system.until(requestId, hasEnded);
  system.tools().script({ read_value: [{ type: "tool-error", message: "there is no such list" }] });
  const check = { ...look, id: "check", retry: ONCE };
  writePlan(look, check, { ...act, dependsOn: ["check"] });
  const amended = await system.shell(`planwright amend ${requestId} plan.json --execute --watch`);
  expect(amended).toMatchObject({ exitCode: 1 });
  const report = await head(requestId);
  expect(report).toContain("there is no such list");
  expect(report).toContain(
    "Version 2 did worse than version 1: 2 of 3 steps did not complete, of version 1 it was 1 of 2.",
  );
  expect(report).toContain(`planwright amend ${requestId} --restore 1 --from-version 2 --execute`);
  await typeToEnd(requestId);
});

test("slow tool: how long it runs and when it times out, then that it timed out", {
  tags: ["proof"],
}, async () => {
  system.tools().script({ read_value: [{ type: "hang" }, { type: "hang" }] });
  const running = await system.submit([{ id: "look", tool: "read_value", arguments: { value: 1 } }]);
  await system.until(running, (read) => statusOf(read, "look") === "RUNNING");
  const during = await head(running);
  expect(during).toMatch(
    /step look \(read_value\) has been running for .* nothing has failed, 0 of 1 step completed/,
  );
  expect(during).toContain('waits for the answer of server "counting" and is given up after 1 min 0 s');
  expect(during).toContain(`planwright cancel ${running}`);
  await system.cli("cancel", running);

  // Long enough for the call of the retry, also on a machine that was suspended for a moment.
  const failed = await system.submit([
    { id: "look", tool: "read_value", arguments: { value: 1 }, timeoutMs: 5_000, retry: ONCE },
  ]);
  await system.until(failed, hasEnded);
  const after = await head(failed);
  expect(after).toMatch(/Cause {3}step look \(read_value\) failed: .* \(TOOL_TIMEOUT\)/);
  expect(after).toContain('See why "counting" is slow');
  expect(after).toContain(`planwright retry ${failed}`);
  await typeToEnd(failed);
});

test("limit reached: the limit, the request that holds it, and that the step continues by itself", async () => {
  system.tools().script({ limited_read: Array.from({ length: 5 }, () => ({ type: "hang" as const })) });
  const holders = await system.submit(
    [1, 2, 3, 4, 5].map((value) => ({ id: `hold${value}`, tool: "limited_read", arguments: { value } })),
  );
  await system.until(holders, ({ plan }) => plan?.steps.every(({ status }) => status === "RUNNING") ?? false);
  const waiting = await system.submit([{ id: "late", tool: "limited_read", arguments: { value: 6 } }]);
  await system.until(waiting, ({ plan }) => plan?.steps[0]?.waitReason === "limit");
  const report = await head(waiting);
  expect(report).toContain(
    "step late (limited_read) waits for a free slot under the limit of tool limited_read",
  );
  expect(report).toContain("5 calls at once over all plans");
  expect((await typeNext(report)).stdout).toContain(holders);
  const following = typeNext(report, 1);
  await system.cli("cancel", holders);
  expect(await following).toMatchObject({ exitCode: 0 });
});

test("approval waiting: the call, and the command that approves exactly this call", async () => {
  const requestId = await system.submit([{ id: "ask", tool: "set_value", arguments: { value: 7 } }]);
  await system.until(requestId, ({ plan }) => plan?.status === "WAITING");
  const report = await head(requestId);
  expect(report).toContain("step ask (set_value) waits for an approval");
  expect(report).toContain('It would call set_value with {"value":7}');
  await typeToEnd(requestId);
});

test("refused approval: the refusal, and the command that asks for the approval again", {
  tags: ["proof"],
}, async () => {
  const requestId = await system.submit([{ id: "ask", tool: "set_value", arguments: { value: 8 } }]);
  await system.until(requestId, ({ plan }) => plan?.status === "WAITING");
  expect((await typeNext((await head(requestId)).replace("'<why>'", "no"), 1)).exitCode).toBe(0);
  await system.until(requestId, hasEnded);
  const report = await head(requestId);
  expect(report).toContain("(APPROVAL_REFUSED)");
  expect(await typeNext(report)).toMatchObject({ exitCode: 0 });
  await system.until(requestId, ({ plan }) => plan?.status === "WAITING");
  await typeToEnd(requestId);
});

test("in doubt: that the outcome is not known, where to look, and the commands that settle it", async () => {
  system.tools().script({ plain_effect: [{ type: "lose-answer" }] });
  const requestId = await system.submit([{ id: "pay", tool: "plain_effect", arguments: { value: 7 } }]);
  await system.until(requestId, ({ plan }) => plan?.status === "WAITING");
  const report = await head(requestId);
  expect(report).toContain("it is not known whether the call of step pay (plain_effect) happened (IN_DOUBT)");
  expect(report).toContain('Look in "counting" whether it happened');
  expect(report).toContain(`planwright resolve ${requestId} pay --completed`);
  expect(report).toContain(`planwright resolve ${requestId} pay --retry`);
  expect(await system.cli("watch", requestId)).toMatchObject({ exitCode: 3 });
  expect(await system.cli("resolve", requestId, "--completed", '{"value":7}', "--watch")).toMatchObject({
    exitCode: 0,
  });
  const settled = await system.cli("debug", requestId);
  expect(settled.stdout).toMatch(
    /✔ pay \(plain_effect\).* an operator \(anonymous\) said that it completed\n/,
  );
  expect(settled.stdout).toContain("pay: an operator (anonymous) said that it completed");

  for (const printed of [0, 1]) {
    system.tools().script({ plain_effect: [{ type: "lose-answer" }] });
    const again = await system.submit([{ id: "pay", tool: "plain_effect", arguments: { value: 8 } }]);
    await system.until(again, ({ plan }) => plan?.status === "WAITING");
    await typeToEnd(again, printed);
  }
});

test("items of a list failed: how many, with which codes, and the command that calls exactly those again", async () => {
  system.tools().script({
    keyed_effect: [
      { type: "latency", ms: 0 },
      { type: "tool-error", message: "no such user" },
    ],
  });
  const send = { tool: "keyed_effect", arguments: { value: "<<item>>" } };
  const each = { items: ["Ann", "Bob", "Cid"], concurrency: 1, errors: "collect", do: send };
  const requestId = await system.submit([{ id: "each", retry: ONCE, forEach: each }]);
  await system.until(requestId, hasEnded);
  // Items that are called again keep the keys of the first version.
  const { planId } = await system.read(requestId);
  const sent = async () => {
    const ledger = await system.tools().ledger();
    return ledger.flatMap(({ key, arguments: args }) => (key?.startsWith(planId) ? [args["value"]] : []));
  };
  expect(await sent()).toEqual(["Ann", "Cid"]);
  const report = await head(requestId);
  expect(report).toMatch(/^\S \S+ {2}PARTIAL/);
  expect(report).toContain("Cause   1 of 3 items of step each (keyed_effect) failed: TOOL_FAILED");
  expect(report).toContain("Item 1: no such user (TOOL_FAILED)");
  const [command = ""] = /planwright retry .*/.exec(report) ?? [];
  const [, ...words] = command.split(" ");
  const before = system.tools().stats()["keyed_effect"]?.calls ?? 0;
  expect(await system.cli(...words, "--watch")).toMatchObject({ exitCode: 0, stderr: "" });
  expect(system.tools().stats()["keyed_effect"]?.calls).toBe(before + 1);
  expect(await sent()).toEqual(["Ann", "Cid", "Bob"]);
  expect(await head(requestId)).toContain("Cause   every step that had to be done is done");
});

test("cancelled: the cancel, and the command that runs the rest", async () => {
  const requestId = await system.submit([
    { id: "ask", tool: "set_value", arguments: { value: 7 } },
    { id: "look", tool: "read_value", arguments: { value: "<<ask.value>>" } },
  ]);
  await system.until(requestId, ({ plan }) => plan?.status === "WAITING");
  expect(await system.cli("cancel", requestId, "--watch")).toMatchObject({ exitCode: 1 });
  const report = await head(requestId);
  expect(report).toMatch(/Cause {3}the plan was cancelled at 20.*\(CANCELLED\)/);
  expect(report).toContain(`planwright retry ${requestId}`);
  expect(await typeNext(report)).toMatchObject({ exitCode: 0 });
  await system.until(requestId, ({ plan }) => plan?.status === "WAITING");
  await typeToEnd(requestId);
});

test("cancelled midway: what was stopped and what had not begun, and that a second cancel changes nothing", {
  tags: ["proof"],
}, async () => {
  system.tools().script({ read_value: [{ type: "hang" }] });
  const requestId = await system.submit([
    { id: "pay", tool: "plain_effect", arguments: { value: "midway" } },
    { id: "look", tool: "read_value", arguments: { value: "<<pay.value>>" } },
    { id: "last", tool: "keyed_effect", arguments: { value: "<<look.value>>" } },
  ]);
  await system.until(requestId, (read) => statusOf(read, "look") === "RUNNING");
  expect(await system.cli("cancel", requestId)).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining("cancel requested"),
  });
  await system.until(requestId, hasEnded);
  expect(await system.cli("cancel", requestId)).toMatchObject({
    exitCode: 4,
    stderr: expect.stringContaining("was cancelled before: nothing was changed"),
  });
  const report = await head(requestId);
  expect(report).toContain("1 step had completed and is kept; 1 stopped (look (read_value)), 1 not begun.");
  const { stdout } = await system.cli("debug", requestId);
  expect(stdout).toContain("the call was cancelled before counting answered (CANCELLED)");
  await typeToEnd(requestId);
  expect(await effectsOf("midway")).toEqual(["plain_effect", "keyed_effect"]);
});

test("tool changed: the argument that it now requires, and the command that gives it", async () => {
  const requestId = await plantParcel("sendParcel");
  shop.tools = [sendTool("to", "weight"), plainTool("packParcel", ACTS)];
  shop.notify();
  await untilShown("sendParcel", /weight .*required/);
  await approve(requestId);
  await system.until(requestId, hasEnded);
  const report = await head(requestId);
  expect(report).toContain("has changed since the plan was made (input schema), so nothing was sent");
  expect(report).toContain("sendParcel now requires weight: give its value, and run what did not complete.");
  expect((await typeNext(report, 1)).stdout).toContain("weight");
  expect(await typeNext(report, 0, "…")).toMatchObject({ exitCode: 4 });
  expect(shop.called).toEqual([]);
  await typeToEnd(requestId, 0, "5");
  expect(shop.called).toEqual(["sendParcel"]);
});

test("server gone from the servers file: that it is gone, and no similar tool is called in its place", {
  tags: ["proof"],
}, async () => {
  const requestId = await plantParcel("packParcel");
  const file = join(system.folder, "data", "mcp-servers.json");
  const before = readFileSync(file, "utf8");
  const { mcpServers } = JSON.parse(before) as { mcpServers: { [name: string]: object } };
  const { shop: _removed, ...left } = mcpServers;
  const near = await startChangingServer([plainTool("packParcels", ACTS)]);
  try {
    writeFileSync(file, JSON.stringify({ mcpServers: { ...left, other: { url: near.url, trusted: true } } }));
    await system.stack.processes.executor.restart();
    await untilShown("packParcels", /of server other/);
    await approve(requestId);
    await system.until(requestId, hasEnded);
    const report = await head(requestId);
    expect(report).toContain(
      "step send (packParcel) failed: Tool packParcel of server shop is no longer known",
    );
    expect(report).toContain(
      "No tool of server shop is known: it is not in the servers file of the executors",
    );
    expect(report).toContain('Put "shop" back into the servers file of the executors and restart them; then');
    writeFileSync(file, before);
    await system.stack.processes.executor.restart();
    await untilShown("packParcel", /of server shop/);
    await typeToEnd(requestId);
    expect([near.called, shop.called.filter((name) => name === "packParcel")]).toEqual([[], ["packParcel"]]);
  } finally {
    await near.close();
  }
});

test("approval expired: that nothing was called, and the command that asks for it again", {
  tags: ["proof"],
}, async () => {
  const requestId = await system.submit([{ id: "ask", tool: "set_value", arguments: { value: "expired" } }], {
    policy: { approvalTimeoutMs: 1_000 },
  });
  const { planId } = await system.until(requestId, hasEnded);
  const report = await head(requestId);
  expect(report).toMatch(/neither approved nor refused until 20\S+Z .*\(APPROVAL_EXPIRED\)/);
  expect(report).toContain("To ask for approval once more:");
  expect(await typeNext(report)).toMatchObject({ exitCode: 0 });
  // It waits only for a second, which a busy machine may miss.
  await system.until(requestId, (now) => now.planId !== planId && now.plan?.steps[0]?.approvalHash !== null);
  expect(await effectsOf("expired")).toEqual([]);
});

test("deadline passed: what used the time, where it is set, and the command that runs the rest", {
  tags: ["proof"],
}, async () => {
  system.tools().script({ read_value: [{ type: "hang" }] });
  await system.stack.processes.executor.kill();
  const requestId = await system.submit([
    { id: "pay", tool: "plain_effect", arguments: { value: "late" } },
    { id: "look", tool: "read_value", arguments: { value: "<<pay.value>>" } },
  ]);
  // Long beside the first call, which a busy machine delays.
  await system.withService("executor", { PLAN_TIMEOUT_MS: "8000" }, () => system.until(requestId, hasEnded));
  await system.stack.processes.executor.restart();
  const report = await head(requestId);
  expect(report).toMatch(/Cause {3}the plan's deadline has passed \(own time .* s calls \(.*look\)/);
  expect(report).toContain("Not completed by then: look (read_value).");
  expect(report).toContain("or raise PLAN_TIMEOUT_MS of the executors; then");
  await typeToEnd(requestId);
  expect(await effectsOf("late")).toEqual(["plain_effect"]);
});

test("paused: the pause, and the command that resumes the plan", { tags: ["proof"] }, async () => {
  const requestId = await system.submit([
    { id: "ask", tool: "set_value", arguments: { value: 7 } },
    { id: "look", tool: "read_value", arguments: { value: "<<ask.value>>" } },
  ]);
  await system.until(requestId, ({ plan }) => plan?.status === "WAITING");
  expect(await system.cli("pause", requestId)).toMatchObject({ exitCode: 0 });
  const report = await head(requestId);
  expect(report).toContain("Cause   the plan was paused at 20");
  expect(await typeNext(report)).toMatchObject({ exitCode: 0 });
  await system.until(requestId, ({ plan }) => plan?.status === "WAITING");
  await typeToEnd(requestId);
});

test("not started: that the plan was not started, and the command that starts it", {
  tags: ["proof"],
}, async () => {
  const planned = await system.cli("plan", "Create author Rita with email planted.rita@test.com");
  const requestId = /planwright execute (\S+)/.exec(planned.stdout)?.[1] ?? "";
  expect(await head(requestId)).toContain("Cause   the plan is stored and was not started");
  await typeToEnd(requestId);
});

test("watching survives a restart of the API", async () => {
  system.tools().script({ read_value: [{ type: "latency", ms: 6_000 }] });
  const requestId = await system.submit([{ id: "slow", tool: "read_value", arguments: { value: 1 } }]);
  const watching = start(["watch", requestId], { env: system.env });
  await watching.said("RUNNING");
  await system.stack.processes.api.restart();
  const { exitCode, stdout } = await watching.ended;
  expect(exitCode).toBe(0);
  expect(stdout).toContain("plan COMPLETED");
});

test("questions: how many, and the command that asks them at the terminal", async () => {
  const { stdout } = await system.cli("run", "--detach", "Create author Quinn");
  const requestId = stdout.trim();
  await system.until(requestId, ({ status }) => status === "NEEDS_INPUT");
  const report = await head(requestId);
  expect(report).toContain("Cause   the planner needs 1 answer before it can continue");
  const [, words = ""] = /^ {10}planwright (.*)$/m.exec(report) ?? [];
  const answering = startProcess(words.split(" "), { env: system.env, isTerminal: true });
  await answering.said("email");
  answering.type("planted.quinn@test.com\r");
  expect(await answering.ended).toMatchObject({ exitCode: 0 });
  expect(await system.until(requestId, hasEnded)).toMatchObject({ status: "COMPLETED" });
});

test("not understood: that there is no model, how to set one, and the command that lists the tools", async () => {
  const sentence = "Polish the silver until it shines";
  const { exitCode, stdout } = await system.cli("run", sentence);
  expect(exitCode).toBe(1);
  const requestId = /req_\d{10}_[a-z0-9]+/.exec(stdout)?.[0] ?? "";
  const report = await head(requestId);
  expect(report).toContain("(NOT_UNDERSTOOD)");
  expect(report).not.toContain("found no tools");
  expect(report).toContain("MODEL set to a language model");
  expect((await typeNext(report, 1)).stdout).toContain("createAuthor");

  const model = await startModelServer();
  await system.stack.processes.planner.kill();
  try {
    const plan = { steps: [{ id: "look", tool: "read_value", arguments: { value: 1 } }] };
    model.script(() => ({ type: "answer", text: JSON.stringify(plan) }));
    const settings = { MODEL: "openai:scripted", OPENAI_BASE_URL: model.openAiUrl, OPENAI_API_KEY: "none" };
    await system.withService("planner", settings, async () => {
      expect(await typeNext(report)).toMatchObject({ exitCode: 0 });
      // The command does not wait. A request that is still planned here would go to the next test's model.
      expect(await system.until(requestId, hasEnded)).toMatchObject({ status: "COMPLETED" });
    });
  } finally {
    await system.stack.processes.planner.restart();
    await model.close();
  }
});

/** Runs the planner with a scripted model in place of the offline one. */
async function withModel(during: (model: ModelServer) => Promise<void>): Promise<void> {
  const model = await startModelServer();
  await system.stack.processes.planner.kill();
  try {
    const settings = { MODEL: "openai:gpt-4o", OPENAI_BASE_URL: model.openAiUrl, OPENAI_API_KEY: "none" };
    await system.withService("planner", settings, () => during(model));
  } finally {
    await system.stack.processes.planner.restart();
    await model.close();
  }
}

const planToPay = (value: string) => ({
  type: "answer" as const,
  text: JSON.stringify({ steps: [{ id: "pay", tool: "plain_effect", arguments: { value } }] }),
});

test("budget used up: what is needed, and the command whose limit is above it", {
  tags: ["proof"],
}, async () => {
  await withModel(async (model) => {
    model.script(() => planToPay("budget"));
    const { exitCode, stdout } = await system.cli(
      "run",
      "--max-tokens",
      "100",
      "Have value budget in effect",
    );
    expect(exitCode).toBe(1);
    const report = await head(/req_\d{10}_[a-z0-9]+/.exec(stdout)?.[0] ?? "");
    const [, need = ""] = /may take (\d+) tokens more.* \(BUDGET_EXCEEDED\)/.exec(report) ?? [];
    const [, suggested = ""] = /--max-tokens (\d+)/.exec(report) ?? [];
    expect(Number(suggested)).toBeGreaterThan(Number(need));
    expect(await typeNext(report)).toMatchObject({ exitCode: 0 });
    expect(await effectsOf("budget")).toEqual(["plain_effect"]);
  });
});

test("model away: since when, until when, and that the sentence is planned by itself", {
  tags: ["proof"],
}, async () => {
  await withModel(async (model) => {
    model.script(() => ({ type: "error", status: 500 }));
    const { stdout } = await system.cli("run", "--detach", "Have value away in effect");
    const requestId = stdout.trim();
    await expect.poll(() => head(requestId), { timeout: 30_000, interval: 300 }).toContain("away since");
    const report = await head(requestId);
    expect(report).toMatch(/has been away since 20\S+Z \(.*\): .* \(MODEL_UNREACHABLE\)/);
    expect(report).toMatch(/it is tried again .*, by itself, and given up at 20\S+Z \(MODEL_UNREACHABLE_MS/);
    const watching = typeNext(report);
    model.script(() => planToPay("away"));
    expect(await watching).toMatchObject({ exitCode: 0 });
    expect(await effectsOf("away")).toEqual(["plain_effect"]);
  });
});

test("model refused: the model's message", { tags: ["proof"] }, async () => {
  const model = await startModelServer();
  await system.stack.processes.planner.kill();
  try {
    model.script(() => ({ type: "answer", refusal: "I will not plan that." }));
    const settings = { MODEL: "openai:scripted", OPENAI_BASE_URL: model.openAiUrl, OPENAI_API_KEY: "none" };
    await system.withService("planner", settings, async () => {
      const { exitCode, stdout } = await system.cli(
        "run",
        "Create author Mallory with email mallory@test.com",
      );
      expect(exitCode).toBe(1);
      const requestId = /req_\d{10}_[a-z0-9]+/.exec(stdout)?.[0] ?? "";
      const report = await head(requestId);
      expect(report).toMatch(
        /Cause {3}no plan was made: openai:scripted refused .*I will not plan that.* \(MODEL_REFUSED\)/,
      );
      expect(report).toContain("nothing was executed");
      expect(report).toContain("planwright run '<the sentence in other words>'");
      const plan = { steps: [{ id: "look", tool: "read_value", arguments: { value: 1 } }] };
      model.script(() => ({ type: "answer", text: JSON.stringify(plan) }));
      const corrected = report.replace("<the sentence in other words>", "Read the value 1");
      expect(await typeNext(corrected)).toMatchObject({ exitCode: 0 });
    });
  } finally {
    await system.stack.processes.planner.restart();
    await model.close();
  }
});

test("executor lost during a call: no words claim that another one continues, and nothing is done twice", {
  tags: ["proof"],
}, async () => {
  system.tools().script({ read_value: [{ type: "hang" }] });
  const requestId = await system.submit([
    { id: "pay", tool: "plain_effect", arguments: { value: "orphan" } },
    { id: "look", tool: "read_value", arguments: { value: "<<pay.value>>" } },
  ]);
  await system.until(requestId, (read) => statusOf(read, "look") === "RUNNING");
  await system.stack.processes.executor.kill();
  await expect.poll(() => head(requestId), { timeout: 30_000, interval: 500 }).toContain("(no worker)");
  const { stdout } = await system.cli("debug", requestId);
  expect(stdout).toContain("the executor that held the plan has died, and no other one has taken over");
  expect(stdout).toContain("its executor was lost; it waits for the next one");
  const fleet = await system.cli("fleet");
  expect(fleet.stdout).toContain(
    "No executor takes work: no plan is executed, and plans that have begun wait.",
  );
  expect(fleet.stdout).not.toContain("No plan waits for an executor");
  const watching = typeNext(stdout);
  await system.stack.processes.executor.restart();
  expect(await watching).toMatchObject({ exitCode: 0 });
  expect(await effectsOf("orphan")).toEqual(["plain_effect"]);
});

test("no planner, no executor: which worker is missing, and that nothing is lost", {
  tags: ["proof"],
}, async () => {
  await system.stack.processes.planner.kill();
  await system.stack.processes.executor.kill();
  const { stdout } = await system.cli("run", "--detach", "Create author Nora with email nora@test.com");
  const planned = stdout.trim();
  // A worker counts as alive for 5 s after its last heartbeat.
  const noWorker = { timeout: 30_000, interval: 500 };
  await expect.poll(() => head(planned), noWorker).toContain("(no worker)");
  const unplanned = await head(planned);
  expect(unplanned).toMatch(
    /Cause {3}no planner works on the request, which was accepted .* ago \(no worker\)/,
  );
  expect(unplanned).toContain("Start a planner");

  const requestId = await system.submit([{ id: "look", tool: "read_value", arguments: { value: 1 } }]);
  await expect.poll(() => head(requestId), noWorker).toContain("(no worker)");
  const report = await head(requestId);
  expect(report).toMatch(/Cause {3}no executor has taken the plan, which was queued .* ago \(no worker\)/);
  expect(report).toContain("Start an executor");
  expect(report).toContain(`planwright watch ${requestId}`);

  await system.stack.processes.planner.restart();
  await system.stack.processes.executor.restart();
  expect(await typeNext(report)).toMatchObject({ exitCode: 0 });
  expect(await typeNext(unplanned)).toMatchObject({ exitCode: 0 });
});

test("poisoned: that the plan crashed every executor, at which step, and where to look", {
  tags: ["proof"],
}, async () => {
  await system.stack.processes.executor.kill();
  const requestId = await system.submit([{ id: "bad", tool: "keyed_effect", arguments: { value: 1 } }]);
  const { planId } = await system.read(requestId);
  for (let death = 0; death < 5; death += 1) {
    await system.withService("executor", { FAILPOINT: "executor.call.before=kill", DEAD_AFTER_MS: "1000" });
  }
  await system.stack.processes.executor.restart();
  await system.until(requestId, hasEnded);
  const report = await head(requestId);
  expect(report).toMatch(/Cause {3}the plan was given up: .*executor died or was blocked \(POISONED\)/);
  expect(report).toContain("bad (keyed_effect)");
  expect(report).toContain(`Find ${planId} in the logs of the executors`);
  expect(report).toContain(`planwright retry ${requestId}`);
  await typeToEnd(requestId);
});
