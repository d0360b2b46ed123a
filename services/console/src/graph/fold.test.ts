import { expect, test } from "vitest";
import { type FoldedNode, type FoldedStep, foldPlan, MAX_NODES } from "./fold.ts";

const step = (id: string, dependsOn: string[] = [], status = "COMPLETED"): FoldedStep => ({
  id,
  dependsOn,
  status,
});
const many = (count: number, make: (index: number) => FoldedStep) =>
  Array.from({ length: count }, (_, i) => make(i));
const NONE: ReadonlySet<string> = new Set();
const nodeOf = (nodes: readonly FoldedNode[], id: string) =>
  nodes.find(({ members }) => members.includes(id));
const isOpen = (nodes: readonly FoldedNode[], id: string) => nodeOf(nodes, id)?.kind === null;

/** Fails when the nodes have a cycle, or do not contain each step exactly once. */
function expectSound(nodes: readonly FoldedNode[], steps: readonly FoldedStep[]): void {
  expect(nodes.flatMap(({ members }) => members).toSorted()).toEqual(steps.map(({ id }) => id).toSorted());
  const remaining = new Map(nodes.map((node) => [node.id, node]));
  for (let before = -1; before !== remaining.size; ) {
    before = remaining.size;
    for (const [id, node] of remaining)
      if (!node.dependsOn.some((name) => remaining.has(name))) remaining.delete(id);
  }
  expect([...remaining.keys()]).toEqual([]);
}

test("a plan with few enough steps is not folded", () => {
  const steps = many(MAX_NODES, (i) => step(`s${i}`, i === 0 ? [] : [`s${i - 1}`]));
  expect(foldPlan(steps, NONE).every(({ kind }) => kind === null)).toBe(true);
});

test("the completed part of a long chain is one fold, the pending part another", () => {
  const steps = many(1_000, (i) =>
    step(`s${i}`, i === 0 ? [] : [`s${i - 1}`], i < 600 ? "COMPLETED" : "PENDING"),
  );
  const nodes = foldPlan(steps, NONE);
  expectSound(nodes, steps);
  expect(nodes.map(({ kind, members }) => [kind, members.length])).toEqual([
    ["completed", 600],
    ["pending", 400],
  ]);
  expect(nodes[1]?.dependsOn).toEqual([nodes[0]?.id]);
});

test("a chain of any length folds, also when its last step comes first in the plan", () => {
  const steps = many(30_000, (i) => step(`s${i}`, i === 0 ? [] : [`s${i - 1}`])).toReversed();
  expect(foldPlan(steps, NONE).map(({ members }) => members.length)).toEqual([30_000]);
});

test("a failed step and its ancestors stay open, whatever is folded around them", () => {
  const steps = [
    ...many(400, (i) => step(`a${i}`, i === 0 ? [] : [`a${i - 1}`])),
    ...many(3, (i) => step(`b${i}`, i === 0 ? [] : [`b${i - 1}`])),
    step("broken", ["b2"], "FAILED"),
    ...many(300, (i) => step(`c${i}`, [i === 0 ? "broken" : `c${i - 1}`], "SKIPPED")),
  ];
  const nodes = foldPlan(steps, NONE);
  expectSound(nodes, steps);
  for (const id of ["broken", "b0", "b1", "b2"]) expect(isOpen(nodes, id)).toBe(true);
  expect(nodes).toHaveLength(6);
});

test("a thousand parallel steps between the same two steps are one fold", () => {
  const arms = many(998, (i) => step(`arm${i}`, ["start"]));
  const steps = [
    step("start"),
    ...arms,
    step(
      "end",
      arms.map(({ id }) => id),
      "RUNNING",
    ),
  ];
  const nodes = foldPlan(steps, NONE);
  expectSound(nodes, steps);
  expect(nodes.length).toBeLessThanOrEqual(3);
  expect(isOpen(nodes, "end")).toBe(true);
});

test("a path that leaves a fold and returns after an open step makes no cycle", () => {
  const steps = [
    ...many(200, (i) => step(`pad${i}`)),
    step("a"),
    step("x", ["a"], "FAILED"),
    step("d", ["a"]),
    step("c", ["x", "d"]),
  ];
  expectSound(foldPlan(steps, NONE), steps);
});

test("with very many failures the first stay open, and the rest are one fold", () => {
  const steps = many(1_000, (i) => step(`s${i}`, [], "FAILED"));
  const nodes = foldPlan(steps, NONE);
  expectSound(nodes, steps);
  expect(nodes.length).toBeLessThanOrEqual(MAX_NODES);
  expect(isOpen(nodes, "s0")).toBe(true);
});

test("steps that the reader opens are drawn one by one", () => {
  const steps = many(300, (i) => step(`s${i}`, i === 0 ? [] : [`s${i - 1}`]));
  const nodes = foldPlan(steps, new Set(["s10", "s11"]));
  expectSound(nodes, steps);
  expect([isOpen(nodes, "s10"), isOpen(nodes, "s11"), isOpen(nodes, "s12")]).toEqual([true, true, false]);
});

test("random plans of any mixture fold without a cycle", () => {
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed % below;
  };
  const statuses = ["COMPLETED", "COMPLETED", "COMPLETED", "PENDING", "SKIPPED", "RUNNING", "FAILED"];
  for (let round = 0; round < 20; round += 1) {
    const steps = many(400, (i) =>
      step(
        `s${i}`,
        i === 0 ? [] : many(random(3), () => step(`s${random(i)}`)).map(({ id }) => id),
        statuses[random(7)],
      ),
    );
    expectSound(foldPlan(steps, NONE), steps);
  }
});
