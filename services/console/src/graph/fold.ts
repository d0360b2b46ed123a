/**
 * Folding of large plans. Invariants:
 * 1. Up to {@link MAX_NODES} steps nothing is folded.
 * 2. At most {@link MAX_OPEN} steps stay open: first those that failed, are in doubt or wait for approval,
 *    then their ancestors, the nearest first, then running steps. Steps that the reader opened stay open too.
 * 3. A fold has steps of one kind, and the graph of folds and open steps has no cycle.
 */

import type { StepRun } from "@planwright/client";
import { groupBy, STATE_LOOKS, type StateLook, stateLook, topologicalOrder } from "@planwright/plan";

/** Most steps of a plan that is not folded. */
export const MAX_NODES = 150;

/** Most steps that stay open automatically in a folded plan. */
export const MAX_OPEN = 100;

/** The kind that the steps of a fold have in common. */
export type FoldKind = "completed" | "skipped" | "pending" | "active" | "bad";

/** The fields of a step that folding needs. */
export interface FoldedStep {
  id: string;
  status: string;
  dependsOn: readonly string[];
}

/** A node of the graph: a step, or a fold of at least two. */
export interface FoldedNode {
  id: string;
  /** Nodes that come before it. */
  dependsOn: readonly string[];
  /** Null for a single step. */
  kind: FoldKind | null;
  /** Ids of its steps, in plan order. */
  members: readonly string[];
}

const KINDS: Readonly<Record<string, FoldKind>> = {
  COMPLETED: "completed",
  SKIPPED: "skipped",
  CANCELLED: "skipped",
  PENDING: "pending",
  RUNNING: "active",
  RETRYING: "active",
  FAILED: "bad",
  IN_DOUBT: "bad",
  WAITING_APPROVAL: "bad",
};

const kindOf = ({ status }: FoldedStep): FoldKind => KINDS[status] ?? "active";

/**
 * The nodes of a plan, folded if there are too many.
 * @param opened - ids of steps that the reader opened
 */
export function foldPlan(steps: readonly FoldedStep[], opened: ReadonlySet<string>): FoldedNode[] {
  if (steps.length <= MAX_NODES) return nodesOf(steps, (step) => step.id);
  const plan = new Map(steps.map((step) => [step.id, step]));
  const open = openSteps(steps, plan, opened);
  const layerOf = layersOf(steps, plan, open);
  const byLayer = (step: FoldedStep) => (open.has(step.id) ? step.id : (layerOf.get(step.id) ?? step.id));
  const byChain = chainsOf(steps, plan, byLayer);
  const byNeighbours = similarChains(steps, plan, { byLayer, byChain });
  // From fine to coarse: the first folding that is small enough.
  const foldings = [byChain, byNeighbours];
  const fits = foldings.find((keyOf) => new Set(steps.map(keyOf)).size <= MAX_NODES + opened.size);
  return nodesOf(steps, fits ?? byLayer);
}

/** Invariant 2. */
function openSteps(
  steps: readonly FoldedStep[],
  plan: ReadonlyMap<string, FoldedStep>,
  opened: ReadonlySet<string>,
): ReadonlySet<string> {
  const wanted = new Set(steps.filter((step) => kindOf(step) === "bad").map(({ id }) => id));
  // The loop also visits ids that it adds to the set, so it finds the nearest ancestors first.
  for (const id of wanted)
    for (const before of plan.get(id)?.dependsOn ?? []) if (plan.has(before)) wanted.add(before);
  for (const step of steps) if (kindOf(step) === "active") wanted.add(step.id);
  return new Set([...[...wanted].slice(0, MAX_OPEN), ...opened]);
}

/**
 * A key for each step: its kind, and how often the kind changes on the longest path to it. Steps with the
 * same key can be one node: a path that leaves them reaches a higher number and never returns (invariant 3).
 */
function layersOf(
  steps: readonly FoldedStep[],
  plan: ReadonlyMap<string, FoldedStep>,
  open: ReadonlySet<string>,
): ReadonlyMap<string, string> {
  const depths = new Map<string, number>();
  const groupOf = (step: FoldedStep) => (open.has(step.id) ? `open ${step.id}` : kindOf(step));
  const positions = new Map(steps.map(({ id }, position) => [id, position]));
  const dependencies = steps.map(({ dependsOn }) => dependsOn.flatMap((id) => positions.get(id) ?? []));
  for (const position of topologicalOrder(dependencies)) {
    const step = steps[position];
    if (!step) continue;
    const befores = step.dependsOn.flatMap((id) => plan.get(id) ?? []);
    const depthAfter = (before: FoldedStep) =>
      (depths.get(before.id) ?? 0) + (groupOf(before) === groupOf(step) ? 0 : 1);
    depths.set(step.id, Math.max(0, ...befores.map(depthAfter)));
  }
  return new Map(steps.map((step) => [step.id, `${kindOf(step)} ${depths.get(step.id)}`]));
}

type KeyOf = (step: FoldedStep) => string;

/** Groups connected steps of one layer. */
function chainsOf(
  steps: readonly FoldedStep[],
  plan: ReadonlyMap<string, FoldedStep>,
  byLayer: KeyOf,
): KeyOf {
  const leader = new Map(steps.map(({ id }) => [id, id]));
  function leaderOf(id: string): string {
    let found = id;
    while (leader.get(found) !== found) found = leader.get(found) ?? found;
    // Every step on the way is linked directly, so that a long chain is walked once.
    for (let at = id; at !== found; ) {
      const next = leader.get(at) ?? found;
      leader.set(at, found);
      at = next;
    }
    return found;
  }
  for (const step of steps)
    for (const id of step.dependsOn) {
      const before = plan.get(id);
      if (before && byLayer(before) === byLayer(step)) leader.set(leaderOf(step.id), leaderOf(before.id));
    }
  return ({ id }) => leaderOf(id);
}

/** Groups chains of one layer with the same neighbours: parallel branches. */
function similarChains(
  steps: readonly FoldedStep[],
  plan: ReadonlyMap<string, FoldedStep>,
  { byLayer, byChain }: { byLayer: KeyOf; byChain: KeyOf },
): KeyOf {
  const neighbours = new Map<string, Set<string>>();
  const note = (chain: string, text: string) =>
    neighbours.set(chain, (neighbours.get(chain) ?? new Set()).add(text));
  for (const step of steps) {
    note(byChain(step), byLayer(step));
    for (const id of step.dependsOn) {
      const before = plan.get(id);
      if (!before || byChain(before) === byChain(step)) continue;
      note(byChain(step), `after ${byLayer(before)}`);
      note(byChain(before), `before ${byLayer(step)}`);
    }
  }
  return (step) => `${byLayer(step)} ${[...(neighbours.get(byChain(step)) ?? [])].toSorted().join(",")}`;
}

/** Makes one node of the steps with the same key. */
function nodesOf(steps: readonly FoldedStep[], keyOf: KeyOf): FoldedNode[] {
  const groups = groupBy(steps, keyOf);
  const nodeOf = new Map<string, string>();
  for (const members of groups.values()) {
    const name = members.length === 1 ? members[0]?.id : `fold:${members[0]?.id}`;
    for (const { id } of members) nodeOf.set(id, name ?? id);
  }
  return [...groups.values()].flatMap((members) => {
    const [first] = members;
    if (!first) return [];
    const id = nodeOf.get(first.id) ?? first.id;
    const before = new Set(
      members.flatMap((step) => step.dependsOn.flatMap((name) => nodeOf.get(name) ?? [])),
    );
    before.delete(id);
    const kind = members.length === 1 ? null : kindOf(first);
    return [{ id, dependsOn: [...before], kind, members: members.map((step) => step.id) }];
  });
}

/** Width of a node in the graph, and the heights of a step and of one with its items or its error, in pixels. */
export const NODE_WIDTH = 224;
export const NODE_HEIGHT = 58;
export const TALL_HEIGHT = 100;

/** The nodes and edges of a plan for the layout. */
export interface GraphShape {
  nodes: readonly { id: string; height: number }[];
  /** Each edge leads from a step to one that depends on it. */
  edges: readonly (readonly [string, string])[];
}

/** The upper left corner of each node. */
export type Positions = Record<string, { x: number; y: number }>;

/**
 * Positions without the layout program: a column for each level of the plan, in which the steps are in plan order.
 * Edges may cross. Pure.
 */
export function plainPositions({ nodes, edges }: GraphShape): Positions {
  const index = new Map(nodes.map(({ id }, position) => [id, position]));
  const before = nodes.map((): number[] => []);
  for (const [from, to] of edges) {
    const [start, end] = [index.get(from), index.get(to)];
    if (start !== undefined && end !== undefined) before[end]?.push(start);
  }
  const levels = nodes.map(() => 0);
  for (const at of topologicalOrder(before))
    levels[at] = Math.max(0, ...(before[at] ?? []).map((earlier) => (levels[earlier] ?? 0) + 1));
  const bottoms = new Map<number, number>();
  return Object.fromEntries(
    nodes.map(({ id, height }, at) => {
      const level = levels[at] ?? 0;
      const y = bottoms.get(level) ?? 0;
      bottoms.set(level, y + height + GAP);
      return [id, { x: level * (NODE_WIDTH + 2 * GAP), y }];
    }),
  );
}

/** Space between nodes of {@link plainPositions}, in pixels. */
const GAP = 28;

/** The fields of a node that the layout needs. */
interface ShapedNode {
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

/** The items of a list by status, the most urgent first. */
export interface Histogram {
  total: number;
  bins: readonly { status: string; count: number }[];
}

/** The order of the bins: failed, waiting for a person, running, ended, not begun. */
const ORDER = [
  "FAILED",
  "IN_DOUBT",
  "WAITING_APPROVAL",
  "RETRYING",
  "RUNNING",
  "COMPLETED",
  "SKIPPED",
  "CANCELLED",
  "PENDING",
];

const rankOf = (status: string): number => (ORDER.includes(status) ? ORDER.indexOf(status) : ORDER.length);

/** Counts the items of each list by status. A list without known items has no histogram. */
export function histogramsOf(
  steps: readonly Pick<StepRun, "id" | "item" | "status">[],
): ReadonlyMap<string, Histogram> {
  const counts = new Map<string, Map<string, number>>();
  for (const { id, item, status } of steps) {
    if (item === null) continue;
    const ofStep = counts.get(id) ?? new Map<string, number>();
    counts.set(id, ofStep);
    ofStep.set(status, (ofStep.get(status) ?? 0) + 1);
  }
  return new Map([...counts].map(([id, ofStep]) => [id, histogramOf(ofStep)]));
}

function histogramOf(counts: ReadonlyMap<string, number>): Histogram {
  const bins = [...counts]
    .map(([status, count]) => ({ status, count }))
    .toSorted((a, b) => rankOf(a.status) - rankOf(b.status));
  return { total: bins.reduce((sum, { count }) => sum + count, 0), bins };
}

/**
 * The look of a step. A list whose items failed has no look of success although it completed, and one whose items are
 * in doubt does not look busy.
 * @param histogram - the items of a list; null for other steps
 */
export function lookOfStep(
  step: Pick<StepRun, "status" | "waitReason">,
  histogram: Histogram | null,
): StateLook {
  const has = (wanted: string) => histogram?.bins.some(({ status }) => status === wanted) === true;
  if (step.status === "COMPLETED" && has("FAILED")) return STATE_LOOKS.plan.PARTIAL;
  if (step.status === "RUNNING" && has("IN_DOUBT")) return STATE_LOOKS.step.IN_DOUBT;
  return stateLook("step", step);
}
