import { fc, test } from "@fast-check/vitest";
import { type Plan, parsePlan, printPlan } from "@planwright/plan";
import { expect } from "vitest";

/** A plan that uses the id of its first step everywhere an id is allowed. */
function planAround(id: unknown, after: unknown = "last") {
  return {
    steps: [
      { id, tool: "find", arguments: { q: "tea" } },
      { id: "list", tool: "each", forEach: { items: [1], do: { tool: "each" } }, dependsOn: [id] },
      { id: after, tool: "sum", when: { status: [id, "COMPLETED"] }, after: [id] },
    ].map(({ tool, ...step }) => ("forEach" in step ? step : { ...step, tool })),
    outputs: [id],
    executionOrder: [[id], "list", after],
  };
}

function read(input: unknown): { plan: Plan; renamed: string[] } {
  const parsed = parsePlan(input);
  if (!parsed.ok) expect.fail(JSON.stringify(parsed.diagnostics));
  expect(parsed.diagnostics.every(({ code }) => code === "STEP_ID_RENAMED")).toBe(true);
  return { plan: parsed.plan, renamed: parsed.diagnostics.map(({ message }) => message) };
}

test.each([
  ["a number", 1, "s1"],
  ["a number as text", "1", "s1"],
  ["words", "step 1", "step_1"],
  ["a provider's name and number", "functions.find:0", "functions_find_0"],
  ["a random text that begins with a digit", "9dKXy0z1a", "s9dKXy0z1a"],
  ["letters of another script", "步骤1", "s1"],
  ["no letters at all", "步骤", "s"],
  ["a sign before it", "#E1", "E1"],
  ["a dollar before it", "$var1", "var1"],
  ["more than 64 characters", "a".repeat(80), "a".repeat(64)],
])("an id that is %s is renamed wherever it is used", (_, written, id) => {
  const { plan, renamed } = read(planAround(written));
  expect(plan.steps.map((step) => step.id)).toEqual([id, "list", "last"]);
  expect(plan.steps[1]?.dependsOn).toEqual([id]);
  expect(plan.steps[2]).toMatchObject({ when: { status: [id, "COMPLETED"] }, dependsOn: [id] });
  expect(plan.outputs).toEqual([id]);
  expect(renamed).toHaveLength(1);
  expect(renamed[0]).toContain(JSON.stringify(String(written)).slice(0, 60));
  expect(renamed[0]).toContain(`is now ${id},`);
});

test("valid ids do not change", () => {
  for (const id of ["call_abc-1", "a", "Z9", "toolu_01A09q90qw90lq917835lq9"]) {
    expect(read(planAround(id)).plan.steps[0]?.id).toBe(id);
  }
});

test("an empty id counts as absent: the step is named after its tool", () => {
  const parsed = parsePlan([{ id: "", tool: "find" }]);
  expect(parsed.ok && parsed.plan.steps[0]?.id).toBe("find");
});

test("a new id is never the name of another step, tool or alias", () => {
  const { plan } = read([
    { id: "1", tool: "find" },
    { id: "s1", tool: "find" },
    { id: "find it", tool: "find_it" },
    { id: "the item", forEach: { items: [1], as: "the_item", do: { tool: "find" } } },
    { id: "#1", tool: "find" },
  ]);
  expect(plan.steps.map(({ id }) => id)).toEqual(["s1_1", "s1", "find_it_1", "the_item_1", "s1_2"]);
});

test("steps with the same written id are still reported as duplicates", () => {
  const { diagnostics } = parsePlan([
    { id: 1, tool: "a" },
    { id: "1", tool: "b" },
  ]);
  expect(diagnostics.map(({ code }) => code)).toContain("STEP_ID_DUPLICATE");
});

test("a reference that could mean a new id or a field is refused", () => {
  const { diagnostics } = parsePlan([
    { id: "a", tool: "find" },
    { id: "a.b", tool: "find" },
    { id: "c", tool: "sum", arguments: { of: "<<a.b>>" } },
  ]);
  expect(diagnostics.map(({ code }) => code)).toEqual(["STEP_ID_RENAMED", "REFERENCE_AMBIGUOUS"]);
});

const id = fc.oneof(
  fc.string({ maxLength: 90 }),
  fc.integer(),
  fc.constantFrom("s1", "a b", "a_b", "1", "#1"),
);

test.prop([fc.uniqueArray(id, { minLength: 1, maxLength: 6, selector: String })])(
  "whatever ids are written, each step has one of its own, the same each time, and reading again changes nothing",
  (ids) => {
    const steps = ids.map((written, index) => ({
      id: written,
      tool: "t",
      dependsOn: index > 0 ? [ids[0]] : [],
    }));
    const parsed = parsePlan(steps);
    expect(parsePlan(steps)).toEqual(parsed);
    if (!parsed.ok) return;
    expect(new Set(parsed.plan.steps.map((step) => step.id)).size).toBe(ids.length);
    const again = parsePlan(printPlan(parsed.plan));
    expect(again).toEqual({ ok: true, plan: parsed.plan, diagnostics: [] });
  },
);
