/**
 * The log lines of executors about plans that fail, are in doubt, lose their executor, or lose the
 * database.
 */
import { startServerProxy } from "@planwright/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import {
  openWorkbench,
  type RunningExecutor,
  SOON_DEAD,
  TENANT,
  type Workbench,
} from "./executor-process.ts";

const LineSchema = z.looseObject({ level: z.string(), msg: z.string() });
type Line = z.output<typeof LineSchema>;

let bench: Workbench;
/** What each executor has printed. */
let outputs: (() => string)[];
beforeEach(async () => {
  bench = await openWorkbench();
  outputs = [];
});
afterEach(() => bench.close());

async function start(env?: Record<string, string>): Promise<RunningExecutor> {
  const executor = await bench.startExecutor(env);
  outputs.push(executor.output);
  return executor;
}

/** The complete lines of all executors, one executor after the other. */
const lines = (): Line[] =>
  outputs
    .flatMap((output) => output().match(/^\{.*\}$/gm) ?? [])
    .map((line) => LineSchema.parse(JSON.parse(line)));

const logged = ({ requestId }: { requestId: string }) =>
  lines().filter((line) => line["requestId"] === requestId);
const lineOf = (plan: { requestId: string }, message: string) => () =>
  logged(plan).find(({ msg }) => msg.startsWith(message));

test("a plan that failed is a warning with status, code, step, tool and reason, after the lines of its attempts", async () => {
  bench.tools.script({
    keyed_effect: [
      { type: "status", status: 503 },
      { type: "tool-error", message: "no such account" },
    ],
  });
  await start();
  const plan = await bench.submit([
    { id: "pay", tool: "keyed_effect", arguments: {}, retry: { maxAttempts: 2, initialMs: 1 } },
    { id: "mail", tool: "keyed_effect", arguments: {}, dependsOn: ["pay"] },
  ]);
  await bench.end(plan._id);
  await expect.poll(lineOf(plan, "plan failed")).toBeDefined();
  expect(logged(plan)).toMatchObject([
    { level: "info", msg: "plan claimed", planId: plan._id, epoch: 1 },
    { level: "info", msg: "attempt failed; the call is tried again", step: "pay", attempts: 1 },
    {
      level: "warn",
      msg: "step failed",
      step: "pay",
      tool: "keyed_effect",
      attempts: 2,
      code: "TOOL_FAILED",
    },
    {
      level: "warn",
      msg: "plan failed",
      status: "FAILED",
      step: "pay",
      tool: "keyed_effect",
      code: "TOOL_FAILED",
      reason:
        "Step 'pay' failed: no such account (the answer to an earlier call was lost; this one is to the same key)",
    },
  ]);
});

test("a call with a reference that stayed text is a warning that names it", async () => {
  await start();
  const plan = await bench.submit({
    steps: [
      { id: "first", tool: "keyed_effect", arguments: { value: 1 } },
      { id: "next", tool: "keyed_effect", arguments: { value: "{{first.gone}}" } },
    ],
    policy: { profile: "tool-chaining" },
  });
  await bench.end(plan._id);
  await expect.poll(lineOf(plan, "plan finished")).toBeDefined();
  expect(lineOf(plan, "step completed with warnings")()).toMatchObject({
    level: "warn",
    step: "next",
    tool: "keyed_effect",
    warnings: [expect.stringMatching(/first\.gone.*its text is kept/)],
  });
});

test("a plan that completes has two lines, however many steps it has", async () => {
  await start();
  const each = Array.from({ length: 20 }, (_, index) => index);
  const plan = await bench.submit([
    ...each.map((value) => ({ id: `s${value}`, tool: "keyed_effect", arguments: { value } })),
    {
      id: "list",
      forEach: { items: each, as: "item", do: { tool: "read_value", arguments: { value: "<<item>>" } } },
    },
  ]);
  await bench.end(plan._id);
  await expect.poll(lineOf(plan, "plan finished")).toBeDefined();
  for (const { worker } of logged(plan)) expect(worker).toEqual(expect.any(String));
  expect(logged(plan).map(({ level, msg }) => [level, msg])).toEqual([
    ["info", "plan claimed"],
    ["info", "plan finished"],
  ]);
});

test("failed items are warnings, at most 50 of them are logged, and their plan ended in part", async () => {
  const items = Array.from({ length: 60 }, (_, index) => index);
  bench.tools.script({ keyed_effect: items.slice(1).map(() => ({ type: "tool-error" as const })) });
  await start();
  const call = { tool: "keyed_effect", arguments: { value: "<<item>>" } };
  const forEach = { items, concurrency: 1, errors: "collect", do: call };
  const plan = await bench.submit([{ id: "each", retry: { maxAttempts: 1 }, forEach }]);
  expect((await bench.end(plan._id)).plan.status).toBe("PARTIAL");
  await expect.poll(lineOf(plan, "plan ended in part")).toBeDefined();
  expect(logged(plan).filter(({ msg }) => msg === "step failed")).toHaveLength(50);
  expect(logged(plan).slice(-2)).toMatchObject([
    { level: "warn", msg: expect.stringContaining("not logged") },
    { level: "warn", status: "PARTIAL", code: "ITEMS_FAILED", step: "each", tool: "keyed_effect" },
  ]);
});

test("a call in doubt is a warning with step, tool and code", async () => {
  bench.tools.script({ plain_effect: [{ type: "lose-answer" }] });
  await start();
  const plan = await bench.submit([{ id: "pay", tool: "plain_effect", arguments: {} }]);
  await bench.until(plan._id, ({ status }) => status === "WAITING");
  await expect.poll(lineOf(plan, "step in doubt")).toMatchObject({
    level: "warn",
    step: "pay",
    tool: "plain_effect",
    code: expect.any(String),
  });
});

test("the log of a plan whose executor was killed names the previous executor, the running calls, and how the plan continued", async () => {
  bench.tools.script({ keyed_effect: [{ type: "hang" }] });
  const { child: first, said, output } = bench.spawnExecutor(SOON_DEAD);
  outputs.push(output);
  await said("executor ready");
  const plan = await bench.submit([
    { id: "pay", tool: "keyed_effect", arguments: {} },
    { id: "fail", tool: "plain_effect", arguments: {}, dependsOn: ["pay"] },
  ]);
  await expect.poll(() => bench.tools.stats()["keyed_effect"]?.calls, { timeout: 30_000 }).toBe(1);
  bench.tools.script({ plain_effect: [{ type: "tool-error" }] });
  await bench.stopExecutor(first, "SIGKILL");
  await start(SOON_DEAD);
  await bench.end(plan._id);
  await expect.poll(lineOf(plan, "plan failed")).toBeDefined();
  expect(logged(plan)).toMatchObject([
    { msg: "plan claimed", epoch: 1 },
    { msg: "plan claimed", epoch: 2 },
    {
      level: "warn",
      msg: "plan taken over from an executor that did not release it",
      planId: plan._id,
      from: expect.stringContaining(`:${first.pid}:`),
      running: ["pay"],
      calls: 1,
    },
    { level: "warn", msg: "step failed", step: "fail" },
    { level: "warn", msg: "plan failed", step: "fail", tool: "plain_effect" },
  ]);
});

test("a plan that was released is not logged as taken over", async () => {
  bench.tools.script({ plain_effect: [{ type: "lose-answer" }] });
  const first = await start();
  const plan = await bench.submit([{ id: "pay", tool: "plain_effect", arguments: {} }]);
  await bench.until(plan._id, ({ status }) => status === "WAITING");
  await first.end();
  await bench.store.requestCancel(TENANT, plan._id, "client");
  await start();
  await bench.end(plan._id);
  expect(logged(plan).some(({ msg }) => msg.includes("taken over"))).toBe(false);
});

test("a lost database is a warning with the requests of held plans, and a lease that another executor took meanwhile is a warning too", async () => {
  const proxy = await startServerProxy(bench.mongodbUrl);
  try {
    bench.tools.script({ keyed_effect: [{ type: "hang" }] });
    await start({ ...SOON_DEAD, MONGODB_URL: proxy.url });
    const plan = await bench.submit([{ id: "pay", tool: "keyed_effect", arguments: {} }]);
    await expect.poll(() => bench.tools.stats()["keyed_effect"]?.calls, { timeout: 30_000 }).toBe(1);
    proxy.cut();
    const lost = () => lines().find(({ msg }) => msg.includes("the database may be lost"));
    await expect
      .poll(lost, { timeout: 30_000 })
      .toMatchObject({ level: "warn", plans: 1, requestIds: [plan.requestId] });
    await start(SOON_DEAD);
    await bench.end(plan._id);
    proxy.mend();
    await expect.poll(lineOf(plan, "lease lost"), { timeout: 60_000 }).toMatchObject({
      level: "warn",
      epoch: 1,
      code: "LEASE_LOST",
    });
    expect(lineOf(plan, "plan taken over")()).toMatchObject({ level: "warn", epoch: 2, running: ["pay"] });
  } finally {
    await proxy.close();
  }
});
