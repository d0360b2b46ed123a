import { afterAll, beforeAll, expect, test } from "vitest";
import { type CliSystem, startCliSystem } from "./cli-stack.ts";
import { startProcess } from "./planwright.ts";

let system: CliSystem;
beforeAll(async () => {
  system = await startCliSystem();
});
afterAll(() => system?.close());

async function failed(): Promise<string> {
  system.tools().script({ keyed_effect: [{ type: "tool-error" }] });
  const requestId = await system.submit([{ id: "act", tool: "keyed_effect", arguments: { value: 1 } }]);
  await system.until(requestId, ({ status }) => status === "FAILED");
  return requestId;
}

test("bulk retry shows the failed requests and changes nothing; with --yes it retries exactly those", async () => {
  const ids = [await failed(), await failed()];
  const preview = await system.cli("bulk", "retry", "--code", "TOOL_FAILED");
  expect(preview).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining("2 requests would be retried"),
  });
  for (const id of ids) {
    expect(preview.stdout).toMatch(new RegExp(`${id} +FAILED`));
    expect((await system.read(id)).status).toBe("FAILED");
  }
  expect(preview.stderr).toContain("--yes");
  const done = await system.cli("bulk", "retry", "--code", "TOOL_FAILED", "--yes");
  expect(done).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("2 requests retried") });
  for (const id of ids) await system.until(id, ({ status }) => status === "COMPLETED");
});

test("on a terminal it asks, and changes nothing after a refusal", async () => {
  const requestId = await failed();
  const ask = () =>
    startProcess(["bulk", "retry", "--failed"], { env: { ...system.env, NO_COLOR: "1" }, isTerminal: true });
  const declined = ask();
  await declined.said("Retry 1 request?");
  declined.type("n");
  expect(await declined.ended).toMatchObject({ exitCode: 2 });
  expect((await system.read(requestId)).status).toBe("FAILED");
  const confirmed = ask();
  await confirmed.said("Retry 1 request?");
  confirmed.type("y");
  expect(await confirmed.ended).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining("1 request retried"),
  });
  await system.until(requestId, ({ status }) => status === "COMPLETED");
});

test("bulk rerun says which requests would be refused, and why", async () => {
  const { stdout, exitCode } = await system.cli("bulk", "rerun", "--tool", "keyed_effect", "--dry-run");
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/COMPLETED +refused: Every step completed/);
  const from = await system.cli(
    "bulk",
    "rerun",
    "--tool",
    "keyed_effect",
    "--from",
    "act",
    "--dry-run",
    "--json",
  );
  expect(JSON.parse(from.stdout)).toMatchObject({
    dryRun: true,
    count: 3,
    // Its effect is done: another one needs the name of the step, one request at a time.
    results: [{ changed: false, error: { code: "REPEAT_NOT_ACCEPTED" } }, {}, {}],
  });
});

test("bulk retry leaves out a failed call that may have acted; retry calls it only by its name", async () => {
  system.tools().script({ plain_effect: [{ type: "error-after-effect" }] });
  const requestId = await system.submit([{ id: "pay", tool: "plain_effect", arguments: { value: 1 } }]);
  await system.until(requestId, ({ status }) => status === "FAILED");
  const effects = async () =>
    (await system.tools().ledger()).filter(({ tool }) => tool === "plain_effect").length;
  const { stdout } = await system.cli("bulk", "retry", "--tool", "plain_effect", "--yes");
  expect(stdout).toContain("1 refused; 1 of these may have acted: retry each of them with --repeat");
  const { stdout: report } = await system.cli("debug", requestId);
  expect(report).toContain("effect     possible: it may have acted");
  expect(await system.cli("retry", requestId)).toMatchObject({
    exitCode: 4,
    stderr: expect.stringContaining("REPEAT_NOT_ACCEPTED"),
  });
  expect(await effects()).toBe(1);
  const [, ...words] = /planwright (retry .*)/.exec(report)?.[1]?.split(" ") ?? [];
  expect(await system.cli("retry", ...words, "--watch")).toMatchObject({ exitCode: 0 });
  expect(await effects()).toBe(2);
});

test("bulk resume lets the paused plans continue, and names no other request", async () => {
  const [paused, running] = [
    await system.submit([{ id: "ask", tool: "set_value", arguments: { value: 1 } }]),
    await system.submit([{ id: "ask", tool: "set_value", arguments: { value: 2 } }]),
  ];
  for (const id of [paused, running]) await system.until(id, ({ plan }) => plan?.status === "WAITING");
  await system.cli("pause", paused);
  await system.until(paused, ({ plan }) => plan?.status === "PAUSED");
  const preview = await system.cli("bulk", "resume");
  expect(preview.stdout).toContain("1 request would be resumed");
  const done = await system.cli("bulk", "resume", "--yes", "--json");
  expect(JSON.parse(done.stdout)).toMatchObject({
    count: 1,
    results: [{ requestId: paused, changed: true }],
  });
  await system.until(paused, ({ plan }) => plan?.status === "WAITING");
  for (const id of [paused, running]) await system.cli("cancel", id);
  for (const id of [paused, running]) await system.until(id, ({ status }) => status === "CANCELLED");
});

test("bulk cancel ends the waiting requests, and says when no request matches", async () => {
  const requestId = await system.submit([{ id: "ask", tool: "set_value", arguments: { value: 1 } }]);
  await system.until(requestId, ({ plan }) => plan?.status === "WAITING");
  const done = await system.cli("bulk", "cancel", "--needs", "approval", "--yes", "--json");
  expect(JSON.parse(done.stdout)).toMatchObject({
    dryRun: false,
    count: 1,
    results: [{ requestId, changed: true }],
  });
  await system.until(requestId, ({ status }) => status === "CANCELLED");
  expect(await system.cli("bulk", "cancel", "--yes")).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining("No request fits."),
  });
});

test.each([
  ["an unknown change", ["bulk", "delete"]],
  ["--from without rerun", ["bulk", "retry", "--from", "act"]],
  ["--yes with --dry-run", ["bulk", "cancel", "--yes", "--dry-run"]],
])("%s ends with 2", async (_, args) => {
  expect(await system.cli(...args)).toMatchObject({ exitCode: 2, stdout: "" });
});

test("fleet lists the executor and the planner of the system, and nothing waits", async () => {
  const { stdout, exitCode } = await system.cli("fleet");
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/executor .* ago .*takes work/);
  expect(stdout).toMatch(/planner .* ago .*takes work, has no model/);
  expect(stdout).toContain("No plan waits for an executor.");
});
