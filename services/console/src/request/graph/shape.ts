/** Width and height of a step in the graph, in pixels. */
export const NODE_WIDTH = 216;
export const NODE_HEIGHT = 58;

/** A plan as far as its layout goes. */
export interface GraphShape {
  nodes: readonly string[];
  /** From a step to one that waits for it. */
  edges: readonly (readonly [string, string])[];
}

/** Upper left corner by node. */
export type Positions = Record<string, { x: number; y: number }>;

/** What is drawn of a step. */
export interface ShapedStep {
  id: string;
  dependsOn: readonly string[];
}

/** The graph of a plan's steps; dependencies that another one implies are left out, since they cross the others and say nothing. */
export function shapeOf(steps: readonly ShapedStep[]): GraphShape {
  const known = new Set(steps.map(({ id }) => id));
  const directOf = new Map(
    steps.map(({ id, dependsOn }) => [id, dependsOn.filter((name) => known.has(name))] as const),
  );
  const ancestors = ancestorsOf(directOf);
  const edges = [...directOf].flatMap(([id, direct]) =>
    direct
      .filter((from) => !direct.some((other) => other !== from && ancestors.get(other)?.has(from)))
      .map((from) => [from, id] as const),
  );
  return { nodes: [...known], edges };
}

/** All that comes before each step. Steps of a plan have no cycle; one would end the walk, not hang it. */
function ancestorsOf(directOf: ReadonlyMap<string, readonly string[]>): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  function visit(id: string): Set<string> {
    const seen = found.get(id);
    if (seen) return seen;
    const all = new Set<string>();
    found.set(id, all);
    for (const from of directOf.get(id) ?? []) {
      all.add(from);
      for (const before of visit(from)) all.add(before);
    }
    return all;
  }
  for (const id of directOf.keys()) visit(id);
  return found;
}
