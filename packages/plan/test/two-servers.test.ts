import { describe, expect, test } from "vitest";
import {
  nameTools,
  orderToolCalls,
  parsePlan,
  readModelAnswer,
  type ToolDescriptor,
  toolOfStep,
} from "../src/index.ts";

const listed = (server: string, name: string, more: Partial<ToolDescriptor> = {}): ToolDescriptor => ({
  name,
  server,
  inputSchema: { type: "object" },
  ...more,
});
const login = (server: string) => listed(server, "login");
const pay = listed("x", "pay", { _meta: { "x-orchestration": { depends_on: ["login"] } } });
const tools = nameTools([login("x"), login("y"), pay, listed("y", "pay_later")]);

const codes = (plan: unknown, policy = {}) =>
  parsePlan(plan, { tools, policy }).diagnostics.map(({ code, severity }) => `${severity} ${code}`);
const toolsOf = (plan: unknown, policy = {}) => {
  const parsed = parsePlan(plan, { tools, policy });
  return parsed.ok ? parsed.plan.steps.map(toolOfStep) : parsed.diagnostics;
};

describe("a name that two servers offer", () => {
  test("is refused without a server, and both choices are named", () => {
    const { ok, diagnostics } = parsePlan([{ id: "a", tool: "login" }], { tools });
    expect(ok).toBe(false);
    expect(diagnostics).toEqual([
      expect.objectContaining({
        code: "TOOL_AMBIGUOUS",
        severity: "error",
        stepId: "a",
        path: "steps[0].tool",
      }),
    ]);
    expect(diagnostics[0]?.message).toContain("x/login, y/login");
  });

  test("is refused without a server also in a model's answer, and both choices are named", () => {
    const answer = JSON.stringify({ steps: [{ id: "a", tool: "login", arguments: {} }] });
    const read = readModelAnswer(answer, { tools });
    expect(read.ok).toBe(false);
    const [first] = read.diagnostics;
    expect(first?.code).toBe("TOOL_AMBIGUOUS");
    expect(first?.message).toContain("x/login, y/login");
  });

  test("means the server's tool when it is qualified; any other name may be qualified too", () => {
    expect(toolsOf([{ tool: "y/login" }, { tool: "y/pay_later" }])).toEqual(["y/login", "pay_later"]);
  });

  test("is unknown with a server that has no such tool", () => {
    expect(codes([{ tool: "z/login" }])).toEqual(["error TOOL_UNKNOWN"]);
    expect(codes([{ tool: "y/pay" }])).toEqual(["error TOOL_UNKNOWN"]);
  });

  test("in a contract means the tool of the same server", () => {
    expect(codes([{ tool: "x/login" }, { tool: "pay" }])).toEqual(["warning DEPENDENCY_ADDED"]);
    expect(codes([{ tool: "y/login" }, { tool: "pay" }])).toEqual(["error CONTRACT_DEPENDENCY_ABSENT"]);
  });

  test("is inserted as the tool of the same server by policy insert", () => {
    expect(toolsOf([{ tool: "pay" }], { onAbsentDependency: "insert" })).toEqual(["x/login", "pay"]);
  });

  test("orders the calls of one answer by the tool of the same server", () => {
    const calls = ["pay", "y/login", "x/login"].map((tool) => ({ id: tool, tool }));
    const groups = orderToolCalls(calls, tools);
    expect(groups.map((group) => group.calls.map(({ id }) => id))).toEqual([["y/login", "x/login"], ["pay"]]);
  });
});
