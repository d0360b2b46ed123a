import type { JsonObject, Profile, ToolDescriptor } from "@planwright/plan";
import { expect, test } from "vitest";
import { type Call, createVirtualClock, runPlan } from "../src/index.ts";
import { tool, write } from "./simulate.ts";

interface Seen {
  stepId: string;
  from: number;
  arguments: JsonObject;
  timeoutMs: number;
}

/**
 * Runs steps with a profile in virtual time. Each call takes 10 ms; a step whose id begins with "bad" fails.
 */
async function runUnder(profile: Profile, steps: object[], tools: ToolDescriptor[]) {
  const clock = createVirtualClock();
  const seen: Seen[] = [];
  const callTool = async (call: Call) => {
    seen.push({
      stepId: call.stepId,
      from: clock.now(),
      arguments: call.arguments,
      timeoutMs: call.timeoutMs,
    });
    await clock.sleep(10);
    if (call.stepId.startsWith("bad")) return { isError: true, content: [{ type: "text", text: "no" }] };
    return { ok: true, token: "T" };
  };
  const result = await runPlan({ steps }, { tools, callTool, clock, policy: { profile } });
  const statuses = Object.fromEntries(Object.entries(result.steps).map(([id, { status }]) => [id, status]));
  return { result, statuses, seen };
}

test("tool-chaining: one call at a time, the first failure stops the plan, unresolved references stay as text", async () => {
  const free = [1, 2, 3].map((n) => ({ id: `s${n}`, tool: "t", arguments: {} }));
  const { seen } = await runUnder("tool-chaining", free, [tool("t")]);
  expect(seen.map(({ from }) => from)).toEqual([0, 10, 20]);

  const failing = [{ id: "bad", tool: "t", arguments: {} }, ...free];
  const stopped = await runUnder("tool-chaining", failing, [tool("t")]);
  expect(stopped.result.status).toBe("FAILED");
  expect(stopped.statuses).toEqual({ bad: "FAILED", s1: "SKIPPED", s2: "SKIPPED", s3: "SKIPPED" });

  const missing = [
    { id: "a", tool: "t", arguments: {} },
    { id: "b", tool: "t", arguments: { x: "<<a.gone>>" } },
  ];
  const kept = await runUnder("tool-chaining", missing, [tool("t")]);
  expect(kept.seen[1]?.arguments).toEqual({ x: "<<a.gone>>" });
  expect(kept.result.steps["b"]?.warnings).toHaveLength(1);
});

test("tool-planning: failures are fail-forward with their reason, missing fields are null", async () => {
  const steps = [
    { id: "bad1", tool: "t", arguments: {} },
    { id: "s2", tool: "t", arguments: { x: "$ref:bad1.ok" } },
    { id: "s3", tool: "t", arguments: {} },
    { id: "s4", tool: "t", arguments: { x: "$ref:s3.gone" } },
  ];
  const { result, statuses, seen } = await runUnder("tool-planning", steps, [write("t")]);
  expect(statuses).toEqual({ bad1: "FAILED", s2: "SKIPPED", s3: "COMPLETED", s4: "COMPLETED" });
  expect(result.steps["s2"]?.error?.message).toBe("Skipped because dependency 'bad1' failed");
  expect(result.status).toBe("PARTIAL");
  expect(seen.find(({ stepId }) => stepId === "s4")?.arguments).toEqual({ x: null });
});

test("ordered-calls: sequential tools are barriers, everything else is a group, failures stop no other step", async () => {
  const sequential: ToolDescriptor = { name: "one", sequential: true };
  const steps = [
    { id: "a", tool: "t", arguments: {} },
    { id: "bad", tool: "t", arguments: {} },
    { id: "b", tool: "one", arguments: {}, dependsOn: ["a", "bad"] },
    { id: "c", tool: "t", arguments: {}, dependsOn: ["b"] },
    { id: "d", tool: "t", arguments: {}, dependsOn: ["b"] },
  ];
  const { result, seen } = await runUnder("ordered-calls", steps, [{ name: "t" }, sequential]);
  expect(seen.map(({ stepId, from }) => [stepId, from])).toEqual([
    ["a", 0],
    ["bad", 0],
    ["b", 10],
    ["c", 20],
    ["d", 20],
  ]);
  expect(result.status).toBe("PARTIAL");
});

test("orchestrator: 30 s for each call, other steps continue after a failure, outputs of dependencies fill arguments, navigation goes first", async () => {
  const takesToken = { inputSchema: { type: "object", properties: { token: { type: "string" } } } };
  const tools = [write("t"), write("needs", {}, takesToken), tool("nav", { navigation: true })];
  const steps = [
    { id: "bad", tool: "t", arguments: {} },
    { id: "login", tool: "t", arguments: {} },
    { id: "use", tool: "needs", arguments: {}, dependsOn: ["login"] },
    { id: "go", tool: "nav", arguments: {}, dependsOn: ["use"] },
  ];
  const { result, statuses, seen } = await runUnder("orchestrator", steps, tools);
  expect(statuses).toEqual({ bad: "FAILED", login: "COMPLETED", use: "COMPLETED", go: "COMPLETED" });
  expect(result.status).toBe("PARTIAL");
  expect(new Set(seen.map(({ timeoutMs }) => timeoutMs))).toEqual(new Set([30_000]));
  expect(seen.find(({ stepId }) => stepId === "use")?.arguments).toEqual({ token: "T" });
  expect(seen.find(({ stepId }) => stepId === "go")?.from).toBe(0);
});

test("contract: modes decide which calls run in parallel; error_propagation and its defaults decide the effect of a failure", async () => {
  const tools = [
    tool("free"),
    tool("alone", { mode: "sequential-only" }),
    tool("two", { mode: "fan-out-bounded", max_concurrency: 2 }),
    write("writes"),
  ];
  const steps = ["free", "alone", "two"].flatMap((name) =>
    [1, 2, 3].map((n) => ({ id: `${name}${n}`, tool: name, arguments: {} })),
  );
  const { seen } = await runUnder("contract", steps, tools);
  const atOnce = (name: string) =>
    seen.filter(({ stepId, from }) => stepId.startsWith(name) && from === 0).length;
  expect([atOnce("free"), atOnce("alone"), atOnce("two")]).toEqual([3, 1, 2]);

  const failing = (name: string) => [
    { id: "bad", tool: name, arguments: {} },
    { id: "other", tool: "writes", arguments: {} },
  ];
  expect((await runUnder("contract", failing("free"), tools)).result.status).toBe("PARTIAL");
  expect((await runUnder("contract", failing("writes"), tools)).result.status).toBe("FAILED");
});
