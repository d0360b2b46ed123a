/** Width of a node in the graph, and the heights of a step and of a list with its histogram, in pixels. */
export const NODE_WIDTH = 224;
export const NODE_HEIGHT = 58;
export const LIST_HEIGHT = 90;

/** The nodes and edges of a plan for the layout. */
export interface GraphShape {
  nodes: readonly { id: string; height: number }[];
  /** Each edge leads from a step to one that depends on it. */
  edges: readonly (readonly [string, string])[];
}

/** The upper left corner of each node. */
export type Positions = Record<string, { x: number; y: number }>;

/** The fields of a node that the layout needs. */
export interface ShapedNode {
  id: string;
  dependsOn: readonly string[];
  height: number;
}

/**
 * The graph of a plan's nodes. Dependencies that others imply are left out: their edges would cross others
 * and add no information.
 */
export function shapeOf(nodes: readonly ShapedNode[]): GraphShape {
  const known = new Set(nodes.map(({ id }) => id));
  const directOf = new Map(
    nodes.map(({ id, dependsOn }) => [id, dependsOn.filter((name) => known.has(name))] as const),
  );
  const ancestors = ancestorsOf(directOf);
  const edges = [...directOf].flatMap(([id, direct]) =>
    direct
      .filter((from) => !direct.some((other) => other !== from && ancestors.get(other)?.has(from)))
      .map((from) => [from, id] as const),
  );
  return { nodes: nodes.map(({ id, height }) => ({ id, height })), edges };
}

/** The ancestors of each node. Steps of a plan have no cycle; if there were one, this would still end. */
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
