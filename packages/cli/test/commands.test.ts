import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { createClient, graphql } from "@planwright/client";
import { freePort } from "@planwright/local";
import { startModelServer } from "@planwright/testing";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type CliSystem, startCliSystem, statusOf } from "./cli-stack.ts";
import { planwright, type Ran, start, startProcess } from "./planwright.ts";

let system: CliSystem;
const SHELF_SERVER = fileURLToPath(new URL("../../tools/test/file-tool-server.mjs", import.meta.url));
const SHELF = [
  { name: "find_book", inputSchema: { type: "object" } },
  { name: "bare" },
  { name: "two\nlines" },
];
/** A stdio server whose tools are in a file of the folder, read when its process starts. */
function shelf(folder: string): Record<string, object> {
  const [toolsFile, callsFile] = [join(folder, "shelf.json"), join(folder, "shelf-calls")];
  writeFileSync(toolsFile, JSON.stringify(SHELF));
  return { shelf: { command: process.execPath, args: [SHELF_SERVER, toolsFile, callsFile] } };
}
beforeAll(async () => {
  system = await startCliSystem(shelf);
});
afterAll(() => system?.close());

const RAW = /[^\P{Cc}\n]|\p{Cf}/u;
const jsonLines = (stdout: string) =>
  stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

/** A plan whose only call never ends by itself. */
async function hanging(): Promise<string> {
  system.tools().script({ read_value: [{ type: "hang" }] });
  const requestId = await system.submit([{ id: "slow", tool: "read_value", arguments: { value: 1 } }]);
  await system.until(requestId, (read) => statusOf(read, "slow") === "RUNNING");
  onTestFinished(async () => void (await system.cli("cancel", requestId)));
  return requestId;
}

test("run prints a line for each change, the outputs, and ends with 0", async () => {
  const { exitCode, stdout, stderr } = await system.cli(
    "run",
    "Create author Ann with email ann@test.com, then create blog by Ann titled Hello about world",
  );
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(stdout).toMatch(/^req_\S+ accepted\n/);
  expect(stdout).toMatch(/plan_\S+ planned: 2 steps, offline/);
  expect(stdout).toMatch(/ {2}createAuthor COMPLETED \d+ ms\n/);
  expect(stdout).toMatch(/plan COMPLETED\nOutputs\n {2}createAuthor {2}\{"_id":"/);
});

test("warnings about a plan are shown before it is executed, or with its outputs when it was executed at once", async () => {
  const credential = `ghp_${"a1B2".repeat(9)}`;
  const plan = { steps: [{ id: "show", tool: "read_value", arguments: { value: credential } }] };
  const submit = (...more: string[]) =>
    planwright(["submit", "-", ...more], { env: system.env, input: JSON.stringify(plan) });
  const warning = /! step show: .* what looks like a credential, .* secret:\/\/ .*\(SECRET_EXPOSED\)/;
  const waiting = await submit();
  expect(waiting.stdout).toMatch(/Look at this first:\n {2}! step show/);
  expect(waiting.stdout).toMatch(warning);
  const executed = await submit("--execute");
  expect(executed).toMatchObject({ exitCode: 0, stderr: "" });
  expect(executed.stdout.split("Outputs\n")[1]).toMatch(warning);
});

test("run --json prints events, one a line, and ends with the complete request", async () => {
  const { exitCode, stdout } = await system.cli("run", "--json", "Create author Ben with email ben@test.com");
  const events = jsonLines(stdout);
  expect(exitCode).toBe(0);
  expect(events.map(({ event }) => event)).toEqual(
    expect.arrayContaining(["accepted", "planned", "step", "plan", "end"]),
  );
  expect(events.at(-1)).toMatchObject({
    event: "end",
    exitCode: 0,
    request: { status: "COMPLETED", plan: { outputs: { createAuthor: { email: "ben@test.com" } } } },
  });
});

test("Ctrl-C leaves the plan running, prints how to follow it again, and exits with 130", async () => {
  const requestId = await hanging();
  const watching = startProcess(["watch", requestId], { env: system.env });
  await watching.said("RUNNING");
  watching.kill("SIGINT");
  const { exitCode, stderr } = await watching.ended;
  expect(exitCode).toBe(130);
  expect(stderr).toContain("The request continues without this program");
  expect(stderr).toContain(`planwright watch ${requestId}`);
  expect((await system.read(requestId)).status).toBe("EXECUTING");
});

test("--timeout ends the wait with 124, and the plan continues", async () => {
  const requestId = await hanging();
  const { exitCode, stderr } = await system.cli("watch", requestId, "--timeout", "1");
  expect(exitCode).toBe(124);
  expect(stderr).toContain("Not ended after 1 s");
  expect((await system.read(requestId)).status).toBe("EXECUTING");
});

test("following is live: the command subscribes once, and the API sends each change", async () => {
  const requestId = await hanging();
  const watching = start(["watch", requestId], { env: system.env });
  await watching.said("RUNNING");
  const metrics = await (await fetch(new URL("/metrics", system.apiUrl))).text();
  expect(metrics).toMatch(/^planwright_api_subscriptions_open\S* [1-9]/m);
  await system.cli("cancel", requestId);
  expect(await watching.ended).toMatchObject({ exitCode: 1, stderr: "" });
});

test("when a proxy blocks the event stream, the request is polled", async () => {
  const forward = async (request: IncomingMessage, response: ServerResponse) => {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(system.apiUrl, { method: "POST", headers, body: await text(request) });
    response.writeHead(answer.status, headers).end(await answer.text());
  };
  const proxy = createServer((request, response) => {
    if (request.url === "/graphql") void forward(request, response);
    else response.writeHead(502).end("<html>Bad gateway</html>");
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  onTestFinished(() => void proxy.close());
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/graphql`;
  const sentence = "Create author Gil with email gil@test.com";
  expect(await system.cli("run", sentence, "--url", url)).toMatchObject({ exitCode: 0, stderr: "" });
});

test("--answer waits for the results in words, or prints why there are none", async () => {
  const { exitCode, stdout } = await system.cli(
    "run",
    "Create author Hal with email hal@test.com",
    "--answer",
    "--max-replans",
    "1",
    "--max-model-calls",
    "3",
  );
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/No answer {2}.*\(MODEL_REQUIRED\)/);
});

test("watch ends with 3 when a client or operator is needed; --stay continues to wait", async () => {
  const requestId = await system.submit([{ id: "ask", tool: "set_value", arguments: { value: 1 } }]);
  const staying = start(["watch", requestId, "--stay"], { env: system.env });
  const { exitCode, stdout } = await system.cli("watch", requestId);
  expect(exitCode).toBe(3);
  expect(stdout).toContain("planwright approve");
  await staying.said("WAITING_APPROVAL");
  expect(await system.cli("approve", requestId)).toMatchObject({ exitCode: 2 });
  const [, hash = ""] = /--hash (\w+)/.exec(stdout) ?? [];
  expect(await system.cli("approve", requestId, "--hash", "0".repeat(12))).toMatchObject({ exitCode: 2 });
  expect(await system.cli("approve", requestId, "ask", "--hash", hash)).toMatchObject({ exitCode: 0 });
  expect((await staying.ended).exitCode).toBe(0);
});

test.each([[["--watch"]], [[]]])(
  "replan %j without a model changes nothing, prints the reason, and fails",
  async (options) => {
    system.tools().script({ keyed_effect: [{ type: "tool-error" }] });
    const requestId = await system.submit([{ id: "act", tool: "keyed_effect", arguments: { value: 1 } }]);
    await system.until(requestId, ({ status }) => status === "FAILED");
    const { exitCode, stdout, stderr } = await system.cli("replan", requestId, ...options);
    expect({ exitCode, stdout }).toEqual({ exitCode: 4, stdout: "" });
    expect(stderr).toContain("No planner has a language model");
    expect(stderr).toContain("(STATE_CONFLICT)");
    expect((await system.read(requestId)).status).toBe("FAILED");
  },
);

test("replan prints the new version, or why there is none", async () => {
  const model = await startModelServer();
  onTestFinished(() => model.close());
  const settings = { MODEL: "openai:scripted", OPENAI_BASE_URL: model.openAiUrl, OPENAI_API_KEY: "none" };
  await system.withPlanner(settings, async () => {
    system.tools().script({ keyed_effect: [{ type: "tool-error" }] });
    const requestId = await system.submit([{ id: "act", tool: "keyed_effect", arguments: { value: 1 } }]);
    await system.until(requestId, ({ status }) => status === "FAILED");
    model.script(() => ({ type: "answer", refusal: "No." }));
    await expect
      .poll(() => system.cli("replan", requestId), { timeout: 20_000 })
      .toMatchObject({ exitCode: 1, stdout: expect.stringContaining("(MODEL_REFUSED)") });
    const plan = { steps: [{ id: "look", tool: "read_value", arguments: { value: 1 } }] };
    model.script(() => ({ type: "answer", text: JSON.stringify(plan) }));
    const made = await system.cli("replan", requestId);
    expect(made).toMatchObject({ exitCode: 0 });
    expect(made.stdout).toContain(`${requestId}: version 2 of the plan was made`);
    const { stdout } = await system.cli("cost", "--since", "1h");
    expect(stdout).toContain("openai:scripted ");
    expect(stdout).toContain(requestId);
  });
});

test.each([["cancel"], ["pause"], ["resume"], ["execute"], ["retry"]])(
  "%s of a plan that has ended changes nothing, prints a code, and fails",
  async (name) => {
    const requestId = await system.submit([{ id: "look", tool: "read_value", arguments: { value: 1 } }]);
    await system.until(requestId, ({ status }) => status === "COMPLETED");
    const { exitCode, stdout, stderr } = await system.cli(name, requestId);
    expect({ exitCode, stdout }).toEqual({ exitCode: 4, stdout: "" });
    expect(stderr).toContain("(STATE_CONFLICT)");
    expect(stderr.trim().split("\n")).toHaveLength(2);
  },
);

test("pause and cancel of a running plan print its state; commands that change nothing fail", async () => {
  const requestId = await hanging();
  const started = await system.cli("execute", requestId, "--detach");
  expect(started).toMatchObject({ exitCode: 4, stdout: "" });
  expect(started.stderr).toContain("started before and is RUNNING: nothing was started now");
  expect(await system.cli("resume", requestId)).toMatchObject({ exitCode: 4, stdout: "" });
  const paused = await system.cli("pause", requestId);
  expect(paused).toMatchObject({ exitCode: 0 });
  expect(paused.stdout).toContain("running calls end first");
  const listed = await system.cli("list");
  expect(listed.stdout).toMatch(new RegExp(`${requestId} +EXECUTING \\(pausing\\)`));
  const watching = start(["watch", requestId], { env: system.env });
  await watching.said("plan pausing: waits for 1 running call");
  watching.kill("SIGINT");
  const cancelled = await system.cli("cancel", requestId);
  expect(cancelled.stdout).toContain("cancel requested; running calls are asked to stop");
  await system.until(requestId, ({ status }) => status === "CANCELLED");
  const again = await system.cli("cancel", requestId);
  expect(again).toMatchObject({
    exitCode: 4,
    stdout: "",
    stderr: expect.stringContaining(`${requestId} was cancelled before: nothing was changed`),
  });
});

test("amend --patch changes the given version, and names the operation that is wrong", async () => {
  system.tools().script({ keyed_effect: [{ type: "tool-error" }] });
  const requestId = await system.submit([{ id: "act", tool: "keyed_effect", arguments: { value: 1 } }]);
  await system.until(requestId, ({ status }) => status === "FAILED");
  const patch = (value: unknown) => [{ op: "replace", path: "/steps/0/arguments/value", value }];
  const typed = (input: string, ...args: string[]) =>
    planwright(["amend", requestId, "--patch", "-", ...args], { env: system.env, input });
  const wrong = await typed(JSON.stringify([{ op: "remove", path: "/steps/5" }]));
  expect(wrong).toMatchObject({
    exitCode: 4,
    stdout: "",
    stderr: expect.stringContaining("Operation 0 of the patch"),
  });
  const late = await typed(JSON.stringify(patch(2)), "--from-version", "7");
  expect(late).toMatchObject({ exitCode: 4, stderr: expect.stringContaining("STATE_CONFLICT") });
  const done = await typed(JSON.stringify(patch(2)), "--execute", "--watch");
  expect(done).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('"value":2') });
  const both = await system.cli("amend", requestId, "plan.json", "--patch", "patch.json");
  expect(both).toMatchObject({ exitCode: 2, stdout: "" });
});

test("execute --hash starts only the plan that was shown", async () => {
  const input = JSON.stringify({ steps: [{ id: "look", tool: "read_value", arguments: { value: 1 } }] });
  const { stdout } = await planwright(["submit", "-"], { env: system.env, input });
  const [, requestId = "", hash = ""] = /planwright execute (\S+) --hash (\S+)/.exec(stdout) ?? [];
  for (const other of ["0123456789ab", hash.slice(0, 7)]) {
    const refused = await system.cli("execute", requestId, "--hash", other);
    expect(refused).toMatchObject({ exitCode: 2, stdout: "", stderr: expect.stringContaining(hash) });
  }
  expect((await system.read(requestId)).status).toBe("READY");
  expect(await system.cli("execute", requestId, "--hash", hash)).toMatchObject({ exitCode: 0 });
});

test("plan shows the plan and starts nothing; execute starts it", async () => {
  const planned = await system.cli("plan", "Create author Cat with email cat@test.com");
  expect(planned.exitCode).toBe(0);
  expect(planned.stdout).toContain("└─ createAuthor");
  expect(planned.stdout).toContain('email  "cat@test.com"');
  const [, requestId = ""] = /planwright execute (\S+)/.exec(planned.stdout) ?? [];
  expect((await system.read(requestId)).plan?.status).toBe("READY");
  expect(await system.cli("watch", requestId)).toMatchObject({ exitCode: 3 });
  expect(await system.cli("execute", requestId)).toMatchObject({ exitCode: 0 });
});

test("--profile and --policy, from a file or as JSON, are used for the plan; a wrong option is reported", async () => {
  const file = join(system.folder, "policy.json");
  writeFileSync(file, JSON.stringify({ maxParallel: 3 }));
  const sentence = "Create author Ida with email ida@test.com";
  const planned = await system.cli("plan", sentence, "--profile", "orchestrator", "--policy", file);
  const [, requestId = ""] = /planwright execute (\S+)/.exec(planned.stdout) ?? [];
  const query = graphql(
    `query ($requestId: ID!) { request(requestId: $requestId) { policy plan { document } } }`,
  );
  const request = await createClient({ url: system.apiUrl }).readRequest(query, requestId);
  expect(request.policy).toEqual({ profile: "orchestrator", maxParallel: 3 });
  expect(request.plan?.document).toMatchObject({
    policy: { profile: "orchestrator", maxParallel: 3, mergeDependencyOutputs: true },
  });
  const refused = await system.cli("plan", sentence, "--policy", '{"speed": 9}');
  expect(refused.exitCode).toBe(4);
  expect(refused.stderr).toContain("policy.speed");
});

test("a sentence is read in the time zone of the terminal, or in that of --timezone or --context", async () => {
  const sentence = ["plan", "Create author Jo with email jo@test.com"];
  const contextOf = async (ran: Ran) => {
    const [, requestId = ""] = /planwright execute (\S+)/.exec(ran.stdout) ?? [];
    const query = graphql(
      `query ($requestId: ID!) { request(requestId: $requestId) { context { now timezone locale facts } } }`,
    );
    return (await createClient({ url: system.apiUrl }).readRequest(query, requestId)).context;
  };
  // A process reads its time zone once.
  const env = { ...system.env, TZ: "Asia/Tokyo" };
  const inTokyo = await startProcess(sentence, { env }).ended;
  expect(await contextOf(inTokyo)).toMatchObject({ timezone: "Asia/Tokyo", locale: null, facts: {} });
  const file = join(system.folder, "context.json");
  const given = {
    now: "2026-11-25T08:00:00.000Z",
    timezone: "Europe/Berlin",
    locale: "de-DE",
    facts: { id: 1 },
  };
  writeFileSync(file, JSON.stringify(given));
  const asGiven = await system.cli(...sentence, "--context", file);
  expect(await contextOf(asGiven)).toEqual(given);
  const named = await system.cli(...sentence, "--context", file, "--timezone", "UTC");
  expect(await contextOf(named)).toEqual({ ...given, timezone: "UTC" });
  const refused = await system.cli("plan", "x", "--timezone", "Mars/Base");
  expect(refused.exitCode).toBe(4);
  expect(refused.stderr).toContain("Not a time zone");
});

test("validate prints whether a plan is valid, each error with path, message and suggestion, and stores nothing", async () => {
  const before = (await system.cli("list", "--json", "--first", "100")).stdout;
  const good = { steps: [{ id: "look", tool: "read_value", arguments: { value: 1 } }] };
  const bad = { steps: [{ id: "a", tool: "createAuthr", arguments: {} }] };
  const file = join(system.folder, "to-check.json");
  writeFileSync(file, JSON.stringify(good));
  const valid = await system.cli("validate", file);
  expect(valid).toMatchObject({
    exitCode: 0,
    stderr: "",
    stdout: expect.stringContaining("The plan is valid"),
  });
  const input = JSON.stringify(bad);
  const invalid = await planwright(["validate", "-"], { env: system.env, input });
  expect(invalid).toMatchObject({ exitCode: 1, stderr: "" });
  expect(invalid.stdout).toMatch(
    /The plan is not valid: 1 error\n {2}. .*createAuthr.*createAuthor.* \(TOOL_UNKNOWN\) {2}at \S+/,
  );
  const asJson = await planwright(["validate", "-", "--json"], { env: system.env, input });
  expect(JSON.parse(asJson.stdout)).toMatchObject({
    valid: false,
    diagnostics: [{ code: "TOOL_UNKNOWN", stepId: "a" }],
  });
  expect(asJson.exitCode).toBe(1);
  expect((await planwright(["validate", "-"], { env: system.env, input: "{" })).exitCode).toBe(2);
  expect((await system.cli("list", "--json", "--first", "100")).stdout).toBe(before);
});

test("an invalid plan ends with 1, and every diagnostic is printed", async () => {
  const file = join(system.folder, "bad.json");
  writeFileSync(file, JSON.stringify({ steps: [{ id: "a", tool: "createAuthr", arguments: {} }] }));
  const { exitCode, stderr } = await system.cli("submit", file);
  expect(exitCode).toBe(1);
  expect(stderr).toContain("createAuthr");
  expect(stderr).toMatch(/Stored under req_/);
});

test.each([
  ["no command", []],
  ["an unknown command", ["rnu", "x"]],
  ["no sentence", ["run"]],
  ["an invalid request id", ["watch", "req_1"]],
  ["an invalid address", ["tools", "--url", "ftp://x"]],
  ["a token of two lines", ["tools", "--token", "a\nb"]],
  ["a file that does not exist", ["submit", "/nowhere/plan.json"]],
  ["an unknown shell", ["completion", "tcsh"]],
  ["an output that is not JSON", ["resolve", "req_1795253322_b8dzgomm7f8z2yi7kyqz", "--completed", "{"]],
  ["more replans than are allowed", ["run", "x", "--max-replans", "6"]],
  ["an unknown profile", ["plan", "x", "--profile", "fastest"]],
  ["a policy that is not JSON", ["plan", "x", "--policy", "{maxParallel"]],
  ["a policy that is neither an object nor a file", ["plan", "x", "--policy", "[1]"]],
  ["an unknown status", ["list", "--status", "DONE"]],
])("%s ends with 2 and an error message", async (_, args) => {
  const { exitCode, stdout, stderr } = await system.cli(...args);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
  expect(stderr.length).toBeGreaterThan(20);
});

test("standard input that is not JSON ends with 2", async () => {
  const ran = await planwright(["submit", "-"], { env: system.env, input: '{"steps": [' });
  expect(ran).toMatchObject({ exitCode: 2, stdout: "" });
  expect(ran.stderr).toContain("standard input is not JSON");
});

test("an API that does not answer, another server, or a refusal ends with 4", async () => {
  const absent = await system.cli("tools", "--url", `http://127.0.0.1:${await freePort()}`);
  expect(absent).toMatchObject({ exitCode: 4, stdout: "" });
  expect(absent.stderr).toContain("ECONNREFUSED");
  const other = await system.cli("tools", "--url", system.tools().url);
  expect(other).toMatchObject({ exitCode: 4, stdout: "" });
  expect(other.stderr).toContain("is not the API");
  const unknown = await system.cli("debug", "req_1795253322_b8dzgomm7f8z2yi7kyqz");
  expect(unknown).toMatchObject({ exitCode: 4, stdout: "" });
  expect(unknown.stderr).toContain("NOT_FOUND");
  const asJson = await system.cli("debug", "req_1795253322_b8dzgomm7f8z2yi7kyqz", "--json");
  expect(asJson).toMatchObject({ exitCode: 4, stderr: "" });
  expect(jsonLines(asJson.stdout)).toMatchObject([
    { event: "error", exitCode: 4, error: { code: "NOT_FOUND" } },
  ]);
});

test("the token is sent as a bearer token, to the given address only", async () => {
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers.authorization);
    if (request.url === "/moved") response.writeHead(307, { location: "/graphql" }).end();
    else response.end(JSON.stringify({ data: { tools: [], toolServers: [] } }));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const env = { PLANWRIGHT_URL: `http://127.0.0.1:${port}`, PLANWRIGHT_API_KEY: "pw_secret" };
  expect(await planwright(["tools"], { env })).toMatchObject({ exitCode: 0 });
  expect(await planwright(["tools", "--url", `http://127.0.0.1:${port}/moved`], { env })).toMatchObject({
    exitCode: 4,
  });
  expect(seen).toEqual(["Bearer pw_secret", "Bearer pw_secret"]);
});

test("without a valid key the error names the variable for it", async () => {
  const server = createServer((_request, response) => {
    const extensions = { code: "UNAUTHENTICATED", retryable: false, remedy: "Send a header" };
    response.writeHead(401).end(JSON.stringify({ errors: [{ message: "Not accepted", extensions }] }));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const asked = await planwright(["tools", "--url", `http://127.0.0.1:${port}`]);
  expect(asked.exitCode).not.toBe(0);
  expect(asked.stderr).toMatch(/UNAUTHENTICATED[^]*PLANWRIGHT_API_KEY/);
});

test("text from a tool or a user cannot control the terminal", async () => {
  const nasty = "\u001b[2J\u001b]0;owned\u0007\u009b31m\rCOMPLETED\u202e";
  system.tools().script({ keyed_effect: [{ type: "tool-error", message: `refused ${nasty}` }] });
  const input = JSON.stringify({ steps: [{ id: "act", tool: "keyed_effect", arguments: { value: nasty } }] });
  const ran = await planwright(["submit", "-", "--execute", "--query", nasty], { env: system.env, input });
  expect(ran.exitCode).toBe(1);
  expect(ran.stdout).toContain("refused");
  const requestId = /req_\d{10}_[a-z0-9]+/.exec(ran.stdout)?.[0] ?? "";
  const report = await system.cli("debug", requestId);
  const asJson = await system.cli("debug", requestId, "--json");
  const all = [ran, report, asJson, await system.cli("list")].flatMap(({ stdout, stderr }) => [
    stdout,
    stderr,
  ]);
  expect(all.filter((text) => RAW.test(text))).toEqual([]);
  expect(JSON.parse(asJson.stdout).request.plan.steps[0].resolvedArguments).toEqual({ value: nasty });
});

test("FORCE_COLOR turns colours on, and NO_COLOR overrides it", async () => {
  const coloured = await planwright(["tools"], { env: { ...system.env, FORCE_COLOR: "1" } });
  expect(coloured.stdout).toContain("\u001b[1mTOOL");
  const plain = await planwright(["tools"], { env: { ...system.env, FORCE_COLOR: "1", NO_COLOR: "1" } });
  expect(plain.stdout).not.toContain("\u001b");
});

describe("on a terminal", () => {
  const FRAMES = /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/gu;
  const onTerminal = (...args: string[]) =>
    startProcess(args, { env: { ...system.env, NO_COLOR: "1" }, isTerminal: true });

  test("the steps are drawn as an animated tree, and only the last tree stays", async () => {
    const requestId = await hanging();
    const running = onTerminal("watch", requestId);
    await running.said(`${requestId}  executing  0 of 1 step`);
    await expect.poll(() => new Set(running.printed().match(FRAMES)).size).toBeGreaterThan(2);
    expect(running.printed()).toMatch(/└─ \S slow \(read_value\)/);
    await system.cli("cancel", requestId);
    const { exitCode, stdout, stderr } = await running.ended;
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: "" });
    // After the last line that is erased.
    const remaining = stdout.slice(stdout.lastIndexOf("\u001b[2K"));
    expect(remaining).toMatch(new RegExp(`${requestId} {2}CANCELLED.*\\n└─ \\S slow \\(read_value\\)`));
    expect(remaining).not.toMatch(FRAMES);
  });

  test("answer asks the planner's questions, and sends the typed answers", async () => {
    const { stdout } = await system.cli("run", "--detach", "Create author Zoe");
    const requestId = stdout.trim();
    await system.until(requestId, ({ status }) => status === "NEEDS_INPUT");
    const running = onTerminal("answer", requestId, "--watch");
    await running.said("email");
    running.type("email: zoe@test.com\r");
    expect(await running.ended).toMatchObject({ exitCode: 0 });
    expect(await system.read(requestId)).toMatchObject({ status: "COMPLETED" });
  });

  test.each([
    ["y", 0, "COMPLETED"],
    ["\r", 2, "WAITING"],
    ["\u0003", 130, "WAITING"],
  ])("approve shows the complete call; %j ends with %i", async (key, exitCode, status) => {
    const requestId = await system.submit([{ id: "ask", tool: "set_value", arguments: { value: 7 } }]);
    onTestFinished(async () => void (await system.cli("cancel", requestId)));
    await system.until(requestId, ({ plan }) => plan?.status === "WAITING");
    const running = onTerminal("approve", requestId, "--watch");
    await running.said("Approve this call?");
    expect(running.printed()).toMatch(/ask \(set_value\) calls set_value with\n\{\n {2}"value": 7\n\}/);
    running.type(key);
    expect(await running.ended).toMatchObject({ exitCode });
    expect((await system.read(requestId)).plan?.status).toBe(status);
  });
});

test("a tool that is left out is shown with the reason, and a plan that calls it is refused with that reason", async () => {
  const listed = await system.cli("tools");
  expect(listed).toMatchObject({ exitCode: 0, stderr: "" });
  expect(listed.stdout).toContain(`
Listed tools that plans cannot use
  bare of server shelf: it has no inputSchema
  two lines of server shelf: its name is not 1 to 128 printable characters`);
  const one = await system.cli("tools", "shelf/bare");
  expect(one.exitCode).toBe(2);
  expect(one.stderr).toContain(
    "Plans cannot use shelf/bare: server shelf lists it, but it is left out because it has no inputSchema",
  );
  const input = JSON.stringify({ steps: [{ id: "a", tool: "bare", arguments: {} }] });
  const submitted = await planwright(["submit", "-", "--execute"], { env: system.env, input });
  expect(submitted.exitCode).toBe(1);
  expect(submitted.stdout + submitted.stderr).toContain(
    "step a calls bare, which no plan can use: server shelf lists it, but it was left out because it has no inputSchema",
  );
});

test("--reload gives a changed stdio server a new process, and says when it cannot start", async () => {
  const toolsFile = join(system.folder, "shelf.json");
  const namesOf = async () =>
    JSON.parse((await system.cli("tools", "--json")).stdout)
      .filter(({ server }: { server: string }) => server === "shelf")
      .map(({ name }: { name: string }) => name);
  writeFileSync(
    toolsFile,
    JSON.stringify([...SHELF, { name: "lend_book", inputSchema: { type: "object" } }]),
  );
  const reloaded = await system.cli("tools", "--reload", "shelf");
  expect(reloaded).toMatchObject({ exitCode: 0, stderr: "" });
  expect(reloaded.stdout).toMatch(/^\S+ reloaded shelf\n$/);
  expect(await namesOf()).toEqual(["find_book", "lend_book"]);
  writeFileSync(toolsFile, "no JSON");
  const kept = await system.cli("tools", "--reload", "shelf");
  expect(kept.exitCode).toBe(1);
  expect(kept.stdout).toMatch(/keeps the earlier connection of shelf: its process ended before it answered/);
  expect(kept.stdout).toMatch(/ \| SyntaxError/);
  expect(await namesOf()).toEqual(["find_book", "lend_book"]);
  const unknown = await system.cli("tools", "--reload", "shelves");
  expect(unknown).toMatchObject({
    exitCode: 4,
    stderr: expect.stringContaining("Tool server not found: shelves"),
  });
});
