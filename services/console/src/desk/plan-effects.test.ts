import { expect, test } from "vitest";
import { effectsOf, effectsText } from "./draft-steps.ts";

const TOOLS = [
  { name: "find", contract: { side_effects: false } },
  { name: "send", contract: { side_effects: true } },
  { name: "pay", contract: { side_effects: true } },
];
const textOf = (steps: object[], kept: string[] = []) =>
  effectsText(effectsOf({ steps }, TOOLS, new Set(kept)));

test("the calls that change something are counted by tool, and what only reads too", () => {
  const steps = [
    { id: "a", tool: "find" },
    { id: "b", forEach: { items: Array.from({ length: 12 }, (_, i) => i), do: { tool: "send" } } },
    { id: "c", tool: "pay", approval: true },
    { id: "d", forEach: { items: "<<a.list>>", do: { tool: "pay" } } },
  ];
  expect(textOf(steps)).toBe(
    "Calls with effects: send up to 12 times; pay once and once for each entry of d. 1 approval is asked for first. 1 other step only reads.",
  );
  expect(textOf(steps, ["b", "d"])).toBe(
    "Calls with effects: pay once. 1 approval is asked for first. 1 other step only reads.",
  );
});

test("a plan that only reads says so, an unknown tool may change something, and half a plan has no effects", () => {
  expect(textOf([{ id: "a", tool: "find" }])).toBe("Nothing is changed: its calls only read.");
  expect(textOf([{ id: "a", tool: "unknown" }])).toBe("Calls with effects: unknown once.");
  expect(effectsText(effectsOf(null, TOOLS))).toBe("");
});
