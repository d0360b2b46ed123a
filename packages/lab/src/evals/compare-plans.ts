import {
  isForEachStep,
  type JsonValue,
  type Plan,
  planGraph,
  printReference,
  type Step,
  scanReferences,
  toolOfStep,
} from "@planwright/plan";

export type Steps = Pick<Plan, "steps">;

/** How well a found plan matches the wanted one. */
export interface PlanComparison {
  /** Tools, as a multiset. */
  nodes: Counts;
  /** Dependencies, explicit or by reference. Dependencies that others imply are not counted. */
  edges: Counts;
  /** Arguments, leaf by leaf. All arguments of a missing or extra step count. */
  arguments: Counts;
  /** True when nothing is missing or extra. */
  isExact: boolean;
}

const NO_PLAN: Steps = { steps: [] };

/** Compares two plans; ids of steps and their order do not matter. Null means that there is no plan. */
export function comparePlans(wanted: Steps, found: Steps | null): PlanComparison {
  const other = found ?? NO_PLAN;
  const aligned = alignSteps(wanted, other);
  const nameOf = (id: string) => aligned.get(id) ?? `${id} (extra)`;
  const same = (id: string) => id;
  const nodes = countMatches(wanted.steps.map(nodeOf), other.steps.map(nodeOf));
  const edges = countMatches(edgesOf(wanted, same), edgesOf(other, nameOf));
  const foundById = new Map(other.steps.map((step) => [nameOf(step.id), stepPairs(step, nameOf)]));
  const wantedById = new Map(wanted.steps.map((step) => [step.id, stepPairs(step, same)]));
  const names = new Set([...wantedById.keys(), ...foundById.keys()]);
  const counted = sumCounts(
    [...names].map((name) => countMatches(wantedById.get(name) ?? [], foundById.get(name) ?? [])),
  );
  const isExact = [nodes, edges, counted].every(({ wrong, missed }) => wrong + missed === 0);
  return { nodes, edges, arguments: counted, isExact };
}

/** The dependencies that no others imply, as "later <- earlier". */
function edgesOf(plan: Steps, nameOf: (stepId: string) => string): string[] {
  const { dependencies, order } = planGraph(plan);
  const ancestors = new Map<string, Set<string>>();
  for (const id of order) {
    const direct = dependencies.get(id) ?? [];
    ancestors.set(id, new Set([...direct, ...direct.flatMap((each) => [...(ancestors.get(each) ?? [])])]));
  }
  return [...dependencies].flatMap(([id, direct]) =>
    direct
      .filter((each) => !direct.some((between) => between !== each && ancestors.get(between)?.has(each)))
      .map((each) => `${nameOf(id)} <- ${nameOf(each)}`),
  );
}

/** The result of matching found items with wanted ones. */
export interface Counts {
  /** Wanted and found. */
  right: number;
  /** Found and not wanted. */
  wrong: number;
  /** Wanted and not found. */
  missed: number;
}

const NONE: Counts = { right: 0, wrong: 0, missed: 0 };

/** Counts two lists as multisets: an item found twice and wanted once is right once and wrong once. */
export function countMatches(wanted: readonly string[], found: readonly string[]): Counts {
  const open = new Map<string, number>();
  for (const item of wanted) open.set(item, (open.get(item) ?? 0) + 1);
  let right = 0;
  for (const item of found) {
    const left = open.get(item) ?? 0;
    if (left === 0) continue;
    open.set(item, left - 1);
    right += 1;
  }
  return { right, wrong: found.length - right, missed: wanted.length - right };
}

/** The sum of several comparisons, so that each item has the same weight (micro average). */
export function sumCounts(all: readonly Counts[]): Counts {
  return all.reduce(
    (sum, each) => ({
      right: sum.right + each.right,
      wrong: sum.wrong + each.wrong,
      missed: sum.missed + each.missed,
    }),
    NONE,
  );
}

/** Harmonic mean of precision and recall, in [0, 1]; 1 when nothing was wanted and nothing was found. */
export function f1Of({ right, wrong, missed }: Counts): number {
  const weight = 2 * right + wrong + missed;
  return weight === 0 ? 1 : (2 * right) / weight;
}

/**
 * All arguments of a step as `path = value`, leaf by leaf. `nameOf` renames the steps that references begin
 * with. The item of a forEach always has the same name.
 */
export function stepPairs(step: Step, nameOf: (stepId: string) => string): string[] {
  if (!isForEachStep(step)) return leaves(step.arguments, "", nameOf);
  const { as: alias, items, do: call } = step.forEach;
  const inside = (root: string) => (root === alias ? "(item)" : root === "index" ? "(index)" : nameOf(root));
  return [...leaves(call.arguments, "", inside), ...leaves(items, "(items)", nameOf)];
}

function leaves(value: JsonValue, path: string, nameOf: (stepId: string) => string): string[] {
  if (Array.isArray(value)) {
    if (value.length === 0) return [`${path} = []`];
    return value.flatMap((item, index) => leaves(item, `${path}[${index}]`, nameOf));
  }
  if (typeof value === "object" && value !== null) {
    return Object.entries(value).flatMap(([key, inner]) => leaves(inner, `${path}.${key}`, nameOf));
  }
  const leaf = typeof value === "string" ? renameReferences(value, nameOf) : value;
  return [`${path} = ${JSON.stringify(leaf)}`];
}

/** The text with the first name of each reference replaced, in the canonical spelling. */
function renameReferences(text: string, nameOf: (stepId: string) => string): string {
  let renamed = "";
  let end = 0;
  for (const reference of scanReferences(text)) {
    renamed += text.slice(end, reference.start) + printReference(nameOf(reference.root), reference.path);
    end = reference.end;
  }
  return renamed + text.slice(end);
}

/**
 * Maps ids of found steps to ids of the wanted steps that they match: steps with the same tool, first those
 * that share the most arguments, then in plan order. Ids of steps do not matter: a reference is identified by
 * the call that it refers to.
 */
function alignSteps(wanted: Steps, found: Steps): Map<string, string> {
  const wantedPairs = pairsOf(wanted);
  const foundPairs = pairsOf(found);
  const candidates = wanted.steps.flatMap((want, wantedAt) =>
    found.steps.flatMap((got, foundAt) => {
      if (nodeOf(want) !== nodeOf(got)) return [];
      const { right } = countMatches(wantedPairs[wantedAt] ?? [], foundPairs[foundAt] ?? []);
      return [{ wanted: want.id, found: got.id, right, distance: Math.abs(wantedAt - foundAt) }];
    }),
  );
  const aligned = new Map<string, string>();
  const taken = new Set<string>();
  for (const each of candidates.toSorted((a, b) => b.right - a.right || a.distance - b.distance)) {
    if (aligned.has(each.found) || taken.has(each.wanted)) continue;
    aligned.set(each.found, each.wanted);
    taken.add(each.wanted);
  }
  return aligned;
}

/** The kind of a step: its tool, and whether it is called once or for each item. */
function nodeOf(step: Step): string {
  return isForEachStep(step) ? `for each: ${toolOfStep(step)}` : toolOfStep(step);
}

/**
 * Each step's arguments twice: with references named by the referenced step's tool and arguments, and by its
 * tool only. So one mistake counts once.
 */
function pairsOf(plan: Steps): string[][] {
  const byId = new Map(plan.steps.map((step) => [step.id, step]));
  const byTool = (id: string): string => {
    const step = byId.get(id);
    return step ? nodeOf(step) : id;
  };
  const byCall = (id: string): string => {
    const step = byId.get(id);
    return step ? JSON.stringify([nodeOf(step), stepPairs(step, byTool)]) : id;
  };
  return plan.steps.map((step) => [...stepPairs(step, byCall), ...stepPairs(step, byTool)]);
}
