import type { StepSnapshot } from "../api/request-snapshot.ts";

/** A step and where it stands in the tree. */
export interface TreeRow {
  step: StepSnapshot;
  /** What stands before the step, such as "│  └─ ". */
  branch: string;
  /** What stands before further lines of the same step. */
  below: string;
}

/** Levels that are drawn one to the right of the other; those below stand under each other, so that they fit a screen. */
const MAX_DEPTH = 12;

/**
 * The steps as a tree: each once, under the one of its dependencies that comes last in the plan. The items of a forEach are
 * left to the caller. Pure, without recursion: a plan may be a chain of a thousand steps.
 */
export function stepTree(steps: readonly StepSnapshot[]): TreeRow[] {
  const plain = steps.filter(({ item }) => item === null);
  const position = new Map(plain.map((step, index) => [step.id, index]));
  const children = new Map<string | undefined, StepSnapshot[]>();
  for (const [index, step] of plain.entries()) {
    const earlier = step.dependsOn.filter((id) => (position.get(id) ?? index) < index);
    const parent = earlier.toSorted((a, b) => (position.get(a) ?? 0) - (position.get(b) ?? 0)).at(-1);
    children.set(parent, [...(children.get(parent) ?? []), step]);
  }
  const rows: TreeRow[] = [];
  const stack = levelOf(children.get(undefined), "", 0);
  for (let next = stack.pop(); next; next = stack.pop()) {
    const { step, indent, isLast, depth } = next;
    const isDeep = depth >= MAX_DEPTH;
    const inner = isDeep ? indent : indent + (isLast ? "   " : "│  ");
    const own = children.get(step.id);
    rows.push({
      step,
      branch: isDeep ? `${indent}↳  ` : `${indent}${isLast ? "└─ " : "├─ "}`,
      below: `${inner}${own && !isDeep ? "│  " : "   "}`,
    });
    stack.push(...levelOf(own, inner, depth + 1));
  }
  return rows;
}

/** Last one first, as a stack gives them back. */
function levelOf(steps: readonly StepSnapshot[] | undefined, indent: string, depth: number) {
  const all = steps ?? [];
  return all.map((step, index) => ({ step, indent, depth, isLast: index === all.length - 1 })).toReversed();
}
