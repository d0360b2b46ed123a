import { nameTools, PlanSchema, pinTools, type ToolDescriptor, type ToolPart } from "@planwright/plan";
import { expect, test } from "vitest";
import { createPlanTools } from "./plan-tools.ts";

const search: ToolDescriptor = { name: "search", server: "x", description: "Searches." };
const ofY: ToolDescriptor = { ...search, server: "y" };
const changed: ToolDescriptor = { ...search, description: "Deletes.", annotations: { readOnlyHint: false } };

/** The tools of a plan with one call, made with one catalogue and compared with another. */
function toolsOf(made: ToolDescriptor[] | null, now: ToolDescriptor[], policy = {}, tool = "search") {
  const plan = PlanSchema.parse({ steps: [{ id: "a", tool }], policy });
  const toolPins = made ? { toolPins: pinTools(plan, nameTools(made)) } : {};
  const claim = { plan: { plan, ...toolPins } };
  return createPlanTools(claim, nameTools(now));
}

test("unchanged tools are called on their servers by their names there", () => {
  const tools = toolsOf([search], [search, { ...ofY, name: "other" }]);
  expect(tools).toMatchObject({ isAsPlanned: true, changed: [], refusals: new Map() });
  expect(tools.addressOf("search")).toEqual({ server: "x", tool: "search" });
});

test("a name still means its server after another server offers the same name", () => {
  const tools = toolsOf([search], [ofY, search]);
  expect(tools.isAsPlanned).toBe(true);
  expect(tools.addressOf("search")).toEqual({ server: "x", tool: "search" });
  expect(tools.find("search")).toMatchObject({ name: "search", server: "x" });
});

test("the refusal of a changed tool names the changes and a remedy", () => {
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

test("a changed tool is reported and not refused if the policy is to continue", () => {
  const tools = toolsOf([search], [changed], { onToolChanged: "continue" });
  expect(tools.changed).toHaveLength(1);
  expect(tools.refusals.size).toBe(0);
});

test("a tool with only another description is reported and not refused", () => {
  const tools = toolsOf([search], [{ ...search, description: "Finds." }]);
  expect(tools).toMatchObject({
    changed: [{ tool: "search", changes: ["description"] }],
    refusals: new Map(),
  });
});

const call = { tool: "search", isLookup: false, sendsSecrets: false };
const redescribed: ToolDescriptor = { ...search, description: "Finds." };
const SCHEMA = { inputSchema: { type: "object" } };
const clockTool = (time: string): ToolDescriptor => ({
  ...search,
  inputSchema: { type: "object", properties: { until: { type: "string", default: time } } },
});

test.each<[string, ToolDescriptor, Partial<typeof call>, ToolPart[], "called" | "warned" | "refused"]>([
  ["without changes", search, {}, [], "called"],
  ["with another description", redescribed, {}, ["description"], "warned"],
  ["with another description, for a secret", redescribed, { sendsSecrets: true }, ["description"], "refused"],
  ["with another schema", { ...search, ...SCHEMA }, {}, ["inputSchema"], "refused"],
  ["with another output schema", { ...search, outputSchema: {} }, {}, ["outputSchema"], "refused"],
  ["with other annotations", { ...search, annotations: {} }, {}, ["annotations"], "refused"],
  ["with another contract", { ...search, sequential: true }, {}, ["contract"], "refused"],
])("at the time of a call a tool %s is judged by its changes", (_, offered, more, changes, end) => {
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

test.each([
  ["is called", {}],
  ["gets a secret", { sendsSecrets: true }],
])("a tool whose default value is the time of its listing %s, with a warning", (_, more) => {
  const tools = toolsOf([clockTool("12:00")], [clockTool("12:01")]);
  expect(tools.refusals.size).toBe(0);
  for (const time of ["12:02", "12:03"]) {
    const verdict = tools.judge({ ...call, ...more }, clockTool(time));
    expect(verdict).toEqual({
      changes: ["texts"],
      warning: expect.stringContaining("(texts or default values of its schemas); it was called anyway"),
    });
  }
  expect(tools.judge({ ...call, ...more }, clockTool("12:00"))).toEqual({ changes: [] });
});

test("with the policy to continue, a changed tool is called, also with a secret, with a warning", () => {
  const tools = toolsOf([search], [search], { onToolChanged: "continue" });
  const verdict = tools.judge({ ...call, sendsSecrets: true }, { ...search, ...SCHEMA });
  expect(verdict).toEqual({
    changes: ["inputSchema"],
    warning:
      "Tool search of server x has changed since the plan was made (input schema); it was called anyway, because of the plan's policy",
  });
});

test("without pins a tool is compared with its state when the plan was claimed", () => {
  const tools = toolsOf(null, [search]);
  expect(tools.judge(call, search).changes).toEqual([]);
  expect(tools.judge(call, { ...search, ...SCHEMA }).refusal?.code).toBe("TOOL_CHANGED");
});

test.each([
  ["pinned with its tool", true],
  ["known since the plan was claimed", false],
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

test("a removed tool is refused, and a tool of another server does not replace it", () => {
  const tools = toolsOf([search], [ofY]);
  expect(tools.refusals.get("search")).toEqual({
    code: "TOOL_NOT_FOUND",
    message: "Tool search of server x is no longer known",
    retryable: false,
  });
  expect(tools.find("search")).toBeUndefined();
});

test("a plan without pins finds its tools by name, and an ambiguous name is refused", () => {
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

test("a name in the contract of a tool means a tool of the same server", () => {
  const find = (server: string): ToolDescriptor => ({ name: "find", server });
  const tools = toolsOf([search], [search, find("x"), find("y")]);
  expect(tools.addressOf("find", tools.find("search"))).toEqual({ server: "x", tool: "find" });
  expect(tools.addressOf("y/find", tools.find("search"))).toEqual({ server: "y", tool: "find" });
});
