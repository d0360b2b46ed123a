import { nameTools, orderToolCalls, parsePlan, type ToolDescriptor, toolOfStep } from "@planwright/plan";
import { readModelAnswer } from "@planwright/reading";
import { describe, expect, test } from "vitest";

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

  describe("that a server lists and that is left out", () => {
    const leftOut = [
      { server: "a shop", tool: "huge", reason: "its descriptor is too large" },
      { server: "x", tool: null, reason: "it has no name" },
    ];
    const reason =
      "which no plan can use: server a shop lists it, but it was left out because its descriptor is too large";
    const refused = (tool: string) => [
      {
        code: "TOOL_UNKNOWN",
        severity: "error",
        stepId: "a",
        path: "steps[0].tool",
        message: `step a calls ${tool}, ${reason}`,
      },
    ];

    test.each(["huge", "a_shop/huge"])("is refused with the reason when a plan calls %s", (tool) => {
      expect(parsePlan([{ id: "a", tool }], { tools, leftOut }).diagnostics).toEqual(refused(tool));
    });

    test("is refused with the reason also in a model's answer that calls nothing else", () => {
      const answer = JSON.stringify({ steps: [{ id: "a", tool: "huge", arguments: {} }] });
      expect(readModelAnswer(answer, { tools, leftOut })).toEqual({
        ok: false,
        diagnostics: refused("huge"),
      });
    });

    test("is no reason for another server's tool, or for an unknown name", () => {
      const messageOf = (tool: string) =>
        parsePlan([{ id: "a", tool }], { tools, leftOut }).diagnostics[0]?.message;
      expect(messageOf("x/huge")).toMatch(/no such tool/);
      expect(messageOf("null")).toMatch(/no such tool/);
      expect(messageOf("pay_later")).toBeUndefined();
    });
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
