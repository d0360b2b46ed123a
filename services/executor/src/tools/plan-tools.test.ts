import { nameTools, PlanSchema, pinTools, type ToolDescriptor, type ToolPart } from "@planwright/plan";
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
  expect(refusal?.message).toMatch(
    /^Tool search of server x has .*\(description, annotations\).*Rerun the plan/,
  );
});

test("a changed tool is told of and not refused where the policy says so", () => {
  const tools = toolsOf([search], [changed], { onToolChanged: "continue" });
  expect(tools.changed).toHaveLength(1);
  expect(tools.refusals.size).toBe(0);
});

test("a tool that describes itself otherwise is told of and not refused", () => {
  const tools = toolsOf([search], [{ ...search, description: "Finds." }]);
  expect(tools).toMatchObject({
    changed: [{ tool: "search", changes: ["description"] }],
    refusals: new Map(),
  });
});

const call = { tool: "search", isLookup: false, sendsSecrets: false };
const finding: ToolDescriptor = { ...search, description: "Finds." };
const SCHEMA = { inputSchema: { type: "object" } };

test.each<[string, ToolDescriptor, Partial<typeof call>, ToolPart[], "called" | "warned" | "refused"]>([
  ["as it was", search, {}, [], "called"],
  ["with another description", finding, {}, ["description"], "warned"],
  ["with another description, for a secret", finding, { sendsSecrets: true }, ["description"], "refused"],
  ["with another schema", { ...search, ...SCHEMA }, {}, ["inputSchema"], "refused"],
  ["with another output schema", { ...search, outputSchema: {} }, {}, ["outputSchema"], "refused"],
  ["with other annotations", { ...search, annotations: {} }, {}, ["annotations"], "refused"],
  ["with another contract", { ...search, sequential: true }, {}, ["contract"], "refused"],
])("at the moment of a call a tool %s is judged by what has changed", (_, offered, more, changes, end) => {
  const verdict = toolsOf([search], [search]).judge({ ...call, ...more }, offered);
  expect(verdict.changes).toEqual(changes);
  expect([verdict.refusal?.code, typeof verdict.warning]).toEqual(
    {
      called: [undefined, "undefined"],
      warned: [undefined, "string"],
      refused: ["TOOL_CHANGED", "undefined"],
    }[end],
  );
});

test("where the policy says so a changed tool is called, also with a secret, and told of", () => {
  const tools = toolsOf([search], [search], { onToolChanged: "continue" });
  const verdict = tools.judge({ ...call, sendsSecrets: true }, { ...search, ...SCHEMA });
  expect(verdict).toEqual({
    changes: ["inputSchema"],
    warning:
      "Tool search of server x has changed since the plan was made (input schema); it was called all the same, as the plan's policy says",
  });
});

test("without pins a tool is compared with what it was when the plan was taken up", () => {
  const tools = toolsOf(null, [search]);
  expect(tools.judge(call, search).changes).toEqual([]);
  expect(tools.judge(call, { ...search, ...SCHEMA }).refusal?.code).toBe("TOOL_CHANGED");
});

test.each([
  ["pinned with its tool", true],
  ["known since the plan was taken up", false],
])("a lookup tool that is %s is compared as well", (_, isPinned) => {
  const pay = { ...search, name: "pay", trusted: true, "x-orchestration": { lookup: { tool: "find" } } };
  const find = { ...search, name: "find" };
  const changedFind = { ...find, ...SCHEMA };
  const tools = toolsOf(isPinned ? [pay, find] : null, [pay, isPinned ? changedFind : find], {}, "pay");
  const lookup = { ...call, tool: "pay", isLookup: true };
  expect(tools.judge(lookup, find).changes).toEqual([]);
  expect(tools.judge(lookup, changedFind)).toMatchObject({
    changes: ["inputSchema"],
    refusal: { code: "TOOL_CHANGED", message: expect.stringContaining("Tool find of server x") },
  });
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
