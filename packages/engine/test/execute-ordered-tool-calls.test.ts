import { expect, test } from "vitest";
import {
  createVirtualClock,
  executeOrderedToolCalls,
  type OrderedCallsOptions,
  type RunnableCall,
  type RunnableTool,
  runPlan,
} from "../src/index.ts";

/** Tools that take 10 ms and record when and with which arguments they were called. */
function createTools(more: { [name: string]: Partial<RunnableTool> } = {}) {
  const clock = createVirtualClock();
  const seen: [string, number, object][] = [];
  const toolOf = (name: string): RunnableTool => ({
    name,
    async run(args) {
      seen.push([name, clock.now(), args]);
      await clock.sleep(10);
      return { from: name, ...args };
    },
    ...more[name],
  });
  const names = [...new Set(["read", "write", ...Object.keys(more)])];
  const execute = (calls: RunnableCall[], options: OrderedCallsOptions = {}) =>
    executeOrderedToolCalls(calls, names.map(toolOf), { clock, ...options });
  return { execute, seen };
}

test("calls around a sequential tool run before and after it, each result with its duration", async () => {
  const { execute, seen } = createTools({ deploy: { sequential: true } });
  const results = await execute([
    { id: "1", tool: "read", arguments: { n: 1 } },
    { id: "2", name: "read", arguments: '{"n": 2}' },
    { id: "3", tool: "deploy" },
    { id: "4", function: { name: "read" }, arguments: { text: "{{3.ok}} <<x.y>> stay" } },
  ]);
  expect(seen.map(([name, at]) => [name, at])).toEqual([
    ["read", 0],
    ["read", 0],
    ["deploy", 10],
    ["read", 20],
  ]);
  expect(results).toEqual([
    { id: "1", tool: "read", durationMs: 10, result: { from: "read", n: 1 } },
    { id: "2", tool: "read", durationMs: 10, result: { from: "read", n: 2 } },
    { id: "3", tool: "deploy", durationMs: 10, result: { from: "deploy" } },
    { id: "4", tool: "read", durationMs: 10, result: { from: "read", text: "{{3.ok}} <<x.y>> stay" } },
  ]);
});

test("each call is made once whatever the results of the others, and a failure is its result", async () => {
  const { execute, seen } = createTools({
    broken: {
      annotations: { readOnlyHint: true },
      run: () => {
        throw new TypeError("it broke");
      },
    },
    refusing: { run: () => ({ isError: true, content: [{ type: "text", text: "not allowed" }] }) },
    strict: { inputSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] } },
    declared: { run: undefined },
  });
  const results = await execute([
    { id: "1", tool: "broken" },
    { id: "2", tool: "refusing", after: ["1"] },
    { id: "3", tool: "strict", arguments: {} },
    { id: "4", tool: "ghost" },
    { id: "5", tool: "declared" },
    { id: "6", tool: "read", arguments: "no JSON" },
    { id: "7", tool: "read", after: ["2", "nowhere"] },
  ]);
  expect(results.map((one) => ("isError" in one ? one.error : one.result))).toEqual([
    "it broke",
    "not allowed",
    "strict: argument n is required",
    "Tool ghost is not known",
    "Tool declared has no run function",
    expect.stringContaining("call 6: the text of its arguments is not JSON of an object"),
    { from: "read" },
  ]);
  expect(results.every(({ durationMs }) => durationMs === 0 || durationMs === 10)).toBe(true);
  expect(seen.map(([name]) => name)).toEqual(["read"]);
});

test("tools that depend on others and calls that name others wait for them; cycles run together", async () => {
  const { execute, seen } = createTools({ publish: { dependsOn: ["write"] } });
  await execute([
    { id: "1", tool: "publish" },
    { id: "2", tool: "write", provides: ["draft"] },
    { id: "3", tool: "read", dependencies: ["draft"] },
    { id: "4", tool: "read", after: ["5"] },
    { id: "5", tool: "read", after: ["4"] },
  ]);
  expect(seen.map(([name, at]) => [name, at])).toEqual([
    ["write", 0],
    ["read", 0],
    ["read", 0],
    ["publish", 10],
    ["read", 10],
  ]);
});

test.each<[string, object]>([
  ["arguments in function, as JSON text", { id: "1", function: { name: "read", arguments: '{"n": 1}' } }],
  ["params", { id: "1", name: "read", params: { n: 1 } }],
  ["input", { type: "tool_use", id: "1", name: "read", input: { n: 1 } }],
  ["parameters", { id: "1", tool: "read", parameters: { n: 1 } }],
  ["args of functionCall", { id: "1", functionCall: { name: "read", args: { n: 1 } } }],
])("a call with %s gets its arguments", async (_, call) => {
  const { execute } = createTools();
  expect(await execute([call])).toMatchObject([{ id: "1", tool: "read", result: { from: "read", n: 1 } }]);
});

test.each<[string, object, string]>([
  ["under a name that no provider uses", { name: "read", payload: { n: 1 } }, "no field payload"],
  ["beside the name of the tool", { name: "strict", n: 1 }, "put it into the arguments"],
  ["under two names that differ", { name: "read", args: { n: 1 }, input: { n: 2 } }, "keep one of them"],
  ["of a list", { name: "read", args: { n: 1 }, forEach: [1, 2] }, "only in a plan"],
])("a call with arguments %s is not made", async (_, call, why) => {
  const { execute, seen } = createTools({ strict: { inputSchema: { properties: { n: {} } } } });
  const [result] = await execute([{ id: "1", ...call }]);
  expect(result).toMatchObject({ isError: true, error: expect.stringContaining(why), durationMs: 0 });
  expect(seen).toEqual([]);
});

test("calls without ids get ids, and tools in the form of a model provider are read", async () => {
  const { execute, seen } = createTools({
    fast: { type: "function", function: { dependencies: ["read"], parameters: { required: ["n"] } } },
  });
  const results = await execute([{ name: "fast", args: { n: 1 } }, { name: "read" }, { name: "fast" }]);
  expect(results.map(({ id }) => id)).toEqual(["call_1", "call_2", "call_3"]);
  expect(seen.map(([name, at]) => [name, at])).toEqual([
    ["read", 0],
    ["fast", 10],
  ]);
  expect(results[2]).toMatchObject({ isError: true, error: "fast: argument n is required" });
});

test("results are returned unchanged, even when they are not JSON", async () => {
  const odd = { big: 1n, list: new Set([1]) };
  const { execute } = createTools({ odd: { run: () => odd }, nothing: { run: () => undefined } });
  const [first, second] = await execute([
    { id: "1", tool: "odd" },
    { id: "2", tool: "nothing" },
  ]);
  expect(first && "result" in first && first.result).toBe(odd);
  expect(second).toMatchObject({ id: "2", result: undefined });
});

test("two calls with one id and a call without a tool are refused before any call, a tool defined twice is reported", async () => {
  const { execute, seen } = createTools();
  const twice = [
    { id: "1", tool: "read" },
    { id: "1", tool: "write" },
  ];
  await expect(execute(twice)).rejects.toMatchObject({ code: "TOOL_CALLS_INVALID" });
  await expect(execute([{ id: "1" }])).rejects.toMatchObject({ code: "TOOL_CALLS_INVALID" });
  expect(seen).toEqual([]);
  expect(await execute([])).toEqual([]);

  const told: string[] = [];
  const tools = [
    { name: "a", run: () => "earlier" },
    { name: "a", run: () => "later" },
  ];
  const results = await executeOrderedToolCalls([{ id: "1", tool: "a" }], tools, {
    onDiagnostic: ({ code }) => told.push(code),
  });
  expect(results).toMatchObject([{ result: "later" }]);
  expect(told).toEqual(["TOOL_DUPLICATE"]);
});

test("a cancelled run makes no further call, and the results report it", async () => {
  const controller = new AbortController();
  const { execute, seen } = createTools({ stop: { sequential: true, run: () => controller.abort() } });
  const results = await execute(
    [
      { id: "1", tool: "stop" },
      { id: "2", tool: "read" },
    ],
    { signal: controller.signal },
  );
  expect(results[1]).toMatchObject({ isError: true, error: "The run was cancelled", durationMs: 0 });
  expect(seen).toEqual([]);
});

test("a number that a double would change reaches a function as the text of its digits", async () => {
  const id = "7205759403792793601";
  const inputSchema = { type: "object", properties: { id: { type: "integer" } } };
  const { execute, seen } = createTools({ strict: { inputSchema } });
  await execute([{ id: "1", tool: "strict", arguments: `{"id":${id},"n":2}` }]);
  expect(seen.map(([, , args]) => args)).toEqual([{ id, n: 2 }]);
  const calls: unknown[] = [];
  const { outputs } = await runPlan(
    {
      steps: [
        { id: "a", tool: "find" },
        { id: "b", tool: "find", arguments: { id: "<<a.id>>" } },
      ],
    },
    {
      tools: [{ name: "find" }],
      callTool: ({ arguments: args }) => {
        calls.push(args);
        return calls.length === 1 ? { id: BigInt(id) } : `{"id":${id}}`;
      },
    },
  );
  expect(calls).toEqual([{}, { id }]);
  expect(outputs).toEqual({ a: { id }, b: { id } });
});
