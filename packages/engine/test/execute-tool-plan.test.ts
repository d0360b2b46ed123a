import { expect, test } from "vitest";
import { executeToolPlan } from "../src/index.ts";
import { tool } from "./simulate.ts";

const TOOLS = [tool("find"), tool("show")];
const callTool = ({
  tool: name,
  arguments: args,
}: {
  tool: string;
  arguments: { [key: string]: unknown };
}) => {
  if (args["id"] === 13) return { isError: true, content: [{ type: "text", text: "no such id" }] };
  return name === "find" ? { id: 7, secret: "stays inside" } : { shown: args["id"] ?? null };
};

test("only the requested outputs are returned", async () => {
  const result = await executeToolPlan(TOOLS, { callTool }).execute({
    steps: [
      { id: "s1", tool: "find", arguments: "{}" },
      { id: "s2", tool: "show", arguments: '{"id": "$ref:s1.id"}' },
    ],
    output_steps: ["s2"],
  });
  expect(result).toEqual({ status: "COMPLETED", outputs: { s2: { shown: 7 } }, errors: [] });
});

test("errors are returned with the outputs, dependents are skipped", async () => {
  const result = await executeToolPlan(TOOLS, { callTool }).execute({
    steps: [
      { id: "bad", tool: "show", arguments: { id: 13 } },
      { id: "next", tool: "show", arguments: { id: "$ref:bad.shown" } },
      { id: "good", tool: "find", arguments: {} },
    ],
    output_steps: ["next", "good"],
  });
  expect(result).toEqual({
    status: "PARTIAL",
    outputs: { good: { id: 7, secret: "stays inside" } },
    errors: [
      { step: "bad", code: "TOOL_FAILED", message: "no such id" },
      { step: "next", code: "DEPENDENCY_FAILED", message: "Skipped because dependency 'bad' failed" },
    ],
  });
});

test.each(["execute_tool_plan", "server/execute_tool_plan"])(
  "a plan that calls %s is refused",
  async (name) => {
    const result = await executeToolPlan([...TOOLS, tool(name)], { callTool }).execute({
      steps: [{ id: "s1", tool: name, arguments: {} }],
      output_steps: ["s1"],
    });
    expect(result).toMatchObject({ status: "INVALID", errors: [{ step: "s1", code: "TOOL_RECURSIVE" }] });
  },
);

test.each<[unknown]>([
  [null],
  ["nonsense"],
  [{}],
  [{ steps: [{ id: "s1", tool: "fnd", arguments: {} }], output_steps: [] }],
])("%j comes back as INVALID with findings", async (input) => {
  const result = await executeToolPlan(TOOLS, { callTool }).execute(input);
  expect(result.status).toBe("INVALID");
  expect(result.errors.length).toBeGreaterThan(0);
});

test("the tool object has name, description and input schema", () => {
  const one = executeToolPlan(TOOLS, { callTool });
  expect(one.name).toBe("execute_tool_plan");
  expect(one.description).toContain("output_steps");
  expect(one.inputSchema).toMatchObject({ type: "object", required: ["steps"] });
});

test.each<[string, object, object]>([
  ["by default, and an optional argument without a value is left out", {}, { shown: null }],
  [
    "and policy of the input overrides it",
    { policy: { onMissingField: "error" } },
    { code: "REFERENCE_MISSING" },
  ],
])("a missing field is null %s", async (_, more, expected) => {
  const show = {
    ...tool("show"),
    inputSchema: { type: "object", properties: { id: { type: "integer" } }, additionalProperties: false },
  };
  const result = await executeToolPlan([tool("find"), show], { callTool }).execute({
    steps: [
      { id: "s1", tool: "find", arguments: {} },
      { id: "s2", tool: "show", arguments: { id: "$ref:s1.gone" } },
    ],
    ...more,
  });
  expect({ ...(result.outputs["s2"] as object), ...result.errors[0] }).toMatchObject(expected);
});

test("policy of the options overrides that of the input, also in plan and in JSON text", async () => {
  const options = { callTool, policy: { onMissingField: "keep" as const } };
  const plan = {
    steps: [
      { id: "s1", tool: "find", arguments: {} },
      { id: "s2", tool: "show", arguments: { id: "<<s1.gone>>" } },
    ],
    policy: { onMissingField: "error" },
    output_steps: ["s2"],
  };
  for (const input of [plan, { plan }, JSON.stringify(plan)])
    expect((await executeToolPlan(TOOLS, options).execute(input)).outputs).toEqual({
      s2: { shown: "<<s1.gone>>" },
    });
});

test("failed items of a list are reported, although the list completed", async () => {
  const letters = { ...tool("send"), annotations: { readOnlyHint: true }, trusted: true };
  const send = ({ arguments: { to } }: { arguments: { [name: string]: unknown } }) =>
    to === "b"
      ? { isError: true, content: [{ type: "text", text: "no such address" }] }
      : { sent: String(to) };
  const result = await executeToolPlan([letters], { callTool: send }).execute({
    steps: [
      { id: "all", forEach: { items: ["a", "b"], do: { tool: "send", arguments: { to: "<<item>>" } } } },
    ],
    output_steps: ["all"],
  });
  expect(result.status).toBe("PARTIAL");
  expect(result.errors).toEqual([
    {
      step: "all",
      code: "ITEMS_FAILED",
      message: expect.stringContaining("1 of 2 items of step 'all' failed"),
    },
  ]);
});

test("an integer beyond 2^53 in JSON text keeps its digits", async () => {
  const seen: unknown[] = [];
  const execute = (input: string) =>
    executeToolPlan(TOOLS, {
      callTool: (call) => {
        seen.push(call.arguments["id"]);
        return null;
      },
    }).execute(input);
  const steps = '[{"id":"s1","tool":"show","arguments":{"id":7205759403792793601}}]';
  await execute(`{"steps":${steps}}`);
  await execute(steps);
  await execute(`{"plan":{"steps":${steps}}}`);
  expect(seen).toEqual(["7205759403792793601", "7205759403792793601", "7205759403792793601"]);
});
