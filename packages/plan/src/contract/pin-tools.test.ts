import { expect, test } from "vitest";
import { PlanSchema } from "../document/plan.ts";
import { createToolIndex, nameTools, type ToolDescriptor } from "../tools/tool-descriptor.ts";
import {
  catalogueOfPlan,
  changesSince,
  fingerprintOf,
  isMaterialChange,
  pinsByTool,
  pinTools,
  type ToolPart,
  toolDigest,
} from "./pin-tools.ts";

const search: ToolDescriptor = {
  name: "search",
  server: "x",
  description: "Searches.",
  inputSchema: { type: "object", properties: { q: { type: "string" } } },
  annotations: { readOnlyHint: true },
};
const ofY: ToolDescriptor = { ...search, server: "y" };
const planOf = (...tools: string[]) =>
  PlanSchema.parse({ steps: tools.map((tool, index) => ({ id: `s${index}`, tool })) });

test("each tool of a plan is pinned once: its server, its name, and its declarations", () => {
  const plan = PlanSchema.parse({
    steps: [
      { id: "a", tool: "search" },
      { id: "b", forEach: { items: [1], do: { tool: "search" } } },
      { id: "c", tool: "gone" },
    ],
  });
  const [pin, ...others] = pinTools(plan, [search]);
  expect(others).toEqual([]);
  expect(pin).toMatchObject({ tool: "search", server: "x", name: "search", digest: toolDigest(search) });
  expect(JSON.stringify(pin).length).toBeLessThan(400);
});

test("a tool with a qualified name in the plan is pinned under the server's name for it", () => {
  const [pin] = pinTools(planOf("y/search"), nameTools([search, ofY]));
  expect(pin).toMatchObject({ tool: "y/search", server: "y", name: "search" });
});

test("a lookup tool is pinned together with the tool whose calls it looks up", () => {
  const pay = { ...search, name: "pay", trusted: true, "x-orchestration": { lookup: { tool: "search" } } };
  const [pin] = pinTools(planOf("pay"), [pay, search, ofY]);
  expect(pin?.lookup).toEqual(fingerprintOf(search));
  expect(changesSince(pin!.lookup!, { ...search, inputSchema: {} })).toEqual(["inputSchema"]);
});

test.each<[ToolPart[], boolean]>([
  [[], false],
  [["description"], false],
  [["description", "annotations"], true],
  [["outputSchema"], true],
])("changes of %j are material: %s", (changes, isMaterial) => {
  expect(isMaterialChange(changes)).toBe(isMaterial);
});

test("a new version pins the current tools, on the same servers as before", () => {
  const plan = planOf("search", "gone");
  const removed = { ...search, name: "gone" };
  const earlier = pinTools(plan, [search, removed]);
  const changed = { ...search, description: "Searches twice." };
  const [pin, kept] = pinTools(plan, nameTools([ofY, changed, { ...removed, server: "y" }]), earlier);
  expect(pin).toMatchObject({ tool: "search", server: "x", name: "search", digest: toolDigest(changed) });
  expect(kept).toEqual(earlier[1]);
});

test.each<[string, Partial<ToolDescriptor>, string[]]>([
  ["nothing", {}, []],
  ["the operator's configuration", { trusted: true, override: { barrier: true } }, []],
  ["the name in the catalogue", { name: "x/search" }, []],
  ["the description", { description: "Searches twice." }, ["description"]],
  ["the title", { title: "Search" }, ["description"]],
  ["the input schema", { inputSchema: { type: "object" } }, ["inputSchema"]],
  ["an output schema", { outputSchema: { type: "object" } }, ["outputSchema"]],
  ["annotations", { annotations: {} }, ["annotations"]],
  ["the contract", { _meta: { "x-orchestration": { side_effects: true } } }, ["contract"]],
  ["the contract at the top level", { sequential: true }, ["contract"]],
  ["two parts", { description: "", annotations: {} }, ["description", "annotations"]],
])("a change of %s is reported", (_, change, parts) => {
  const [pin] = pinTools(planOf("search"), [search]);
  expect(changesSince(pin!, { ...search, ...change })).toEqual(parts);
});

const known = (catalogue: ToolDescriptor[], plan = planOf("search"), pinned = [search]) =>
  catalogueOfPlan(plan, createToolIndex(catalogue), pinsByTool(pinTools(plan, pinned)));
const brief = (tools: readonly ToolDescriptor[]) => tools.map(({ name, server }) => `${server}:${name}`);

test("a catalogue in which the plan's tools have the plan's names is used unchanged", () => {
  const catalogue = [search, { ...ofY, name: "other" }];
  expect(known(catalogue)).toBe(catalogue);
});

test("a short name stays with its server when another server offers the same name", () => {
  expect(brief(known(nameTools([ofY, search])))).toEqual(["x:search", "y:y/search"]);
});

test("a qualified name stays when the other server is removed", () => {
  expect(brief(known([search], planOf("x/search"), nameTools([search, ofY])))).toEqual(["x:x/search"]);
});

test("a removed tool is not replaced by another server's tool of the same name", () => {
  expect(brief(known([ofY, { ...ofY, name: "other" }]))).toEqual(["y:other"]);
});

test("without pins a short name means the only tool with that name", () => {
  const named = (tools: ToolDescriptor[]) =>
    brief(catalogueOfPlan(planOf("search"), createToolIndex(nameTools(tools)), pinsByTool()));
  expect(named([ofY])).toEqual(["y:search"]);
  expect(named([search, ofY])).toEqual(["x:x/search", "y:y/search"]);
});
