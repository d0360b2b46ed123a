import { parsePlan, pinTools } from "@planwright/plan";
import { toolCallsSince } from "@planwright/store";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  type ChangingServer,
  plainTool,
  startChangingServer,
} from "../../../packages/tools/test/changing-server.ts";
import { openWorkbench, TENANT, type Workbench } from "./executor-process.ts";

let server: ChangingServer;
let bench: Workbench;
beforeEach(async () => {
  server = await startChangingServer([plainTool("find")]);
  bench = await openWorkbench({ x: { url: server.url, trusted: true } });
});
afterEach(async () => {
  await bench.close();
  await server.close();
});

/** Runs a plan with so many calls of the tool. */
async function run(calls: number, tenant = TENANT): Promise<void> {
  const tools = await bench.store.toolCatalogue();
  const parsed = parsePlan(
    Array.from({ length: calls }, (_, index) => ({ id: `s${index}`, tool: "find" })),
    { tools },
  );
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  const { plan } = await bench.store.submitPlan({
    tenant,
    query: null,
    plan: parsed.plan,
    toolPins: pinTools(parsed.plan, tools),
    raw: "",
    diagnostics: [],
    autoExecute: true,
  });
  await expect
    .poll(async () => (await bench.store.getPlan(tenant, plan._id))?.status, { timeout: 60_000 })
    .toMatch(/COMPLETED|FAILED|PARTIAL/);
}

const statsOf = (tenant = TENANT) => bench.store.toolCallStats(tenant, toolCallsSince(bench.store.now()));

test("calls of two executors, one after the other, are counted together for their tenant, and no other tenant sees them", async () => {
  const first = await bench.startExecutor();
  await run(3);
  await first.end();
  expect(await statsOf()).toMatchObject([{ server: "x", tool: "find", calls: 3, failures: 0, errors: [] }]);
  const second = await bench.startExecutor();
  server.answer = () => ({ isError: true, content: [{ type: "text", text: "no such user" }] });
  await run(1);
  await run(2, "another");
  await second.end();
  expect(await statsOf()).toMatchObject([
    { calls: 4, failures: 1, errors: [{ code: "TOOL_FAILED", count: 1 }], p50Ms: expect.any(Number) },
  ]);
  expect(await statsOf("another")).toMatchObject([{ failures: expect.any(Number) }]);
  expect(await statsOf("third")).toEqual([]);
});

test("a running executor writes its counts without a stop", async () => {
  await bench.startExecutor();
  await run(1);
  await expect.poll(async () => (await statsOf())[0]?.calls, { timeout: 60_000 }).toBeGreaterThan(0);
});
