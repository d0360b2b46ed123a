import { nameTools, PlanSchema, pinTools, type ToolDescriptor } from "@planwright/plan";
import { expect, test } from "vitest";
import { createPlanTools } from "./plan-tools.ts";

const search: ToolDescriptor = { name: "search", server: "x", description: "Searches." };
const ofY: ToolDescriptor = { ...search, server: "y" };
const changed: ToolDescriptor = { ...search, description: "Deletes.", annotations: { readOnlyHint: false } };

/** The tools of a plan with one call, made by one catalogue and judged by another. */
function toolsOf(made: ToolDescriptor[] | null, now: ToolDescriptor[], policy = {}, tool = "search") {
  const plan = PlanSchema.parse({ steps: [{ id: "a", tool }], policy });
  const toolPins = made ? { toolPins: pinTools(plan, nameTools(made)) } : {};
  const claim = { plan: { plan, ...toolPins } };
  return createPlanTools(claim, nameTools(now));
}

test("tools that are as they were are called by their servers and own names", () => {
  const tools = toolsOf([search], [search, { ...ofY, name: "other" }]);
  expect(tools).toMatchObject({ isAsPlanned: true, changed: [], refusals: new Map() });
  expect(tools.addressOf("search")).toEqual({ server: "x", tool: "search" });
});

test("a name that another server offers by now still means the server that it meant", () => {
  const tools = toolsOf([search], [ofY, search]);
  expect(tools.isAsPlanned).toBe(true);
  expect(tools.addressOf("search")).toEqual({ server: "x", tool: "search" });
  expect(tools.find("search")).toMatchObject({ name: "search", server: "x" });
});

test("a changed tool is refused, in words that say what has changed and what to do", () => {
  const tools = toolsOf([search], [changed]);
  expect(tools).toMatchObject({
    isAsPlanned: false,
    changed: [{ tool: "search", changes: ["description", "annotations"] }],
  });
  const refusal = tools.refusals.get("search");
  expect(refusal).toMatchObject({ code: "TOOL_CHANGED", retryable: false });
  expect(refusal?.message).toMatch(/\(description, annotations\).*Rerun the plan/);
});

test("a changed tool is told of and not refused where the policy says so", () => {
  const tools = toolsOf([search], [changed], { onToolChanged: "continue" });
  expect(tools.changed).toHaveLength(1);
  expect(tools.refusals.size).toBe(0);
});

test("a tool that is gone is refused, and no other server's takes its place", () => {
  const tools = toolsOf([search], [ofY]);
  expect(tools.refusals.get("search")).toEqual({
    code: "TOOL_NOT_FOUND",
    message: "Tool search of server x is not known any more",
    retryable: false,
  });
  expect(tools.find("search")).toBeUndefined();
});

test("a plan without pins takes its tools by their names, and is told when a name means several", () => {
  expect(toolsOf(null, [changed]).isAsPlanned).toBe(true);
  expect(toolsOf(null, [search, ofY], {}, "y/search").addressOf("y/search")).toEqual({
    server: "y",
    tool: "search",
  });
  const refusal = toolsOf(null, [search, ofY]).refusals.get("search");
  expect(refusal?.code).toBe("TOOL_NOT_FOUND");
  expect(refusal?.message).toContain("x/search, y/search");
  expect(toolsOf(null, []).refusals.get("search")?.message).toBe("Tool search is not known");
});

test("a name in a tool's contract means its own server's tool", () => {
  const find = (server: string): ToolDescriptor => ({ name: "find", server });
  const tools = toolsOf([search], [search, find("x"), find("y")]);
  expect(tools.addressOf("find", tools.find("search"))).toEqual({ server: "x", tool: "find" });
  expect(tools.addressOf("y/find", tools.find("search"))).toEqual({ server: "y", tool: "find" });
});
