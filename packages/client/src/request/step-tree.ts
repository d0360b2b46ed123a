/** The fields of a step that the tree needs. */
export interface TreeStep {
  id: string;
  /** Position in its list, for an item of a forEach step; null or absent for a step. */
  item?: number | null;
  dependsOn: readonly string[];
}

/** A step with the lines that are drawn beside it. */
export interface TreeRow<Step extends TreeStep> {
  step: Step;
  /** Printed before the step, such as "│  └─ ". */
  branch: string;
  /** Printed before further lines of the same step. */
  below: string;
}

/** Levels that are indented. Deeper steps are drawn below each other, so that they fit a screen. */
const MAX_DEPTH = 12;

/**
 * The steps as a tree. Each step appears once, below the one of its dependencies that comes last in the plan.
 * The caller draws the items of a forEach step. Pure. Without recursion: a plan may be a chain of a thousand
 * steps.
 */
export function stepTree<Step extends TreeStep>(steps: readonly Step[]): TreeRow<Step>[] {
  const plain = steps.filter(({ item = null }) => item === null);
  const position = new Map(plain.map((step, index) => [step.id, index]));
  const children = new Map<string | undefined, Step[]>();
  for (const [index, step] of plain.entries()) {
    const earlier = step.dependsOn.filter((id) => (position.get(id) ?? index) < index);
    const parent = earlier.toSorted((a, b) => (position.get(a) ?? 0) - (position.get(b) ?? 0)).at(-1);
    children.set(parent, [...(children.get(parent) ?? []), step]);
  }
  const rows: TreeRow<Step>[] = [];
  const stack = levelOf(children.get(undefined), "", 0);
  for (let next = stack.pop(); next; next = stack.pop()) {
    const { step, indent, isLast, depth } = next;
    const isDeep = depth >= MAX_DEPTH;
    const inner = isDeep ? indent : indent + (isLast ? "   " : "│  ");
    const childSteps = children.get(step.id);
    rows.push({
      step,
      branch: isDeep ? `${indent}↳  ` : `${indent}${isLast ? "└─ " : "├─ "}`,
      below: `${inner}${childSteps && !isDeep ? "│  " : "   "}`,
    });
    stack.push(...levelOf(childSteps, inner, depth + 1));
  }
  return rows;
}

/** In reverse order, because the stack returns the last one first. */
function levelOf<Step>(steps: readonly Step[] | undefined, indent: string, depth: number) {
  const all = steps ?? [];
  return all.map((step, index) => ({ step, indent, depth, isLast: index === all.length - 1 })).toReversed();
}
