import type { Policy } from "../policy/policy.ts";
import { components, type Edges, reversed } from "./edges.ts";
import { Heap, smallerFirst } from "./heap.ts";

/** A graph without cycles, and the edges that were removed, as [position, dependency]. */
export interface Acyclic {
  dependencies: number[][];
  dropped: [number, number][];
}

/**
 * Removes edges inside cycles, never edges between cycles or after them. `break-fewest`: while all members of
 * a cycle wait, the one with the fewest unmet dependencies, then the first, breaks it (see {@link
 * openersOf}). `run-together`: no member waits for another. O((V + E) log V).
 * @param count - positions from here on are gates ("all calls of a tool"), which stand for their
 *   dependencies. A position whose edge to a gate is removed still waits for the dependencies of the gate
 *   outside the cycle; further gates are appended for that. Default: no gates
 */
export function breakCycles(
  dependencies: Edges,
  onCycle: Exclude<Policy["onCycle"], "error">,
  count: number = dependencies.length,
): Acyclic {
  const kept = dependencies.map((list) => [...list]);
  const dropped: [number, number][] = [];
  const dependents = reversed(dependencies);
  for (const members of components(dependencies)) {
    const [first] = members;
    if (first === undefined || (members.length === 1 && !dependencies[first]?.includes(first))) continue;
    const inside = new Set(members);
    const outsideGate = outsideGates(dependencies, inside, kept);
    const removeEdges = (index: number, isDone: (other: number) => boolean) => {
      kept[index] = (kept[index] ?? []).flatMap((other) => {
        if (!inside.has(other) || isDone(other)) return other;
        dropped.push([index, other]);
        if (other < count) return [];
        const done = (dependencies[other] ?? []).filter((call) => inside.has(call) && isDone(call));
        return [...outsideGate(other), ...done];
      });
    };
    if (onCycle === "run-together") {
      for (const index of members) if (index < count) removeEdges(index, () => false);
    } else breakFewest(members, { dependencies, dependents, inside, count, removeEdges });
  }
  return { dependencies: kept, dropped };
}

/**
 * The positions that break a cycle under `break-fewest`, with the number of their removed dependencies: they
 * start only when nothing else can run, the one with the fewest first. Under `run-together` there are none:
 * every position of a cycle starts when it can.
 */
export function openersOf({ dropped }: Acyclic, onCycle: Policy["onCycle"]): Map<number, number> {
  const openers = new Map<number, number>();
  if (onCycle !== "break-fewest") return openers;
  for (const [position] of dropped) openers.set(position, (openers.get(position) ?? 0) + 1);
  return openers;
}

/**
 * For a gate of a cycle: a gate for its dependencies outside the cycle, created once; none when there are no
 * such dependencies.
 */
function outsideGates(
  dependencies: Edges,
  inside: ReadonlySet<number>,
  kept: number[][],
): (gate: number) => number[] {
  const made = new Map<number, number[]>();
  return (gate) => {
    const known = made.get(gate);
    if (known) return known;
    const outside = (dependencies[gate] ?? []).filter((call) => !inside.has(call));
    const gates = outside.length === 0 ? [] : [kept.push(outside) - 1];
    made.set(gate, gates);
    return gates;
  };
}

function breakFewest(
  members: readonly number[],
  component: {
    dependencies: Edges;
    dependents: Edges;
    inside: ReadonlySet<number>;
    count: number;
    removeEdges: (index: number, isDone: (other: number) => boolean) => void;
  },
): void {
  const { dependencies, dependents, inside, count, removeEdges } = component;
  const unmet = new Map<number, number>();
  const fewest = new Heap(smallerFirst);
  const size = dependencies.length;
  const done = new Set<number>();
  for (const index of members) {
    const waits = dependencies[index]?.filter((other) => inside.has(other)).length ?? 0;
    unmet.set(index, waits);
    if (index < count) fewest.push(waits * size + index);
  }
  for (let entry = fewest.pop(); entry !== undefined; entry = fewest.pop()) {
    const chosen = entry % size;
    // An outdated entry, or one of a member that is done.
    if (done.has(chosen) || unmet.get(chosen) !== (entry - chosen) / size) continue;
    if (unmet.get(chosen) !== 0) removeEdges(chosen, (other) => done.has(other));
    done.add(chosen);
    const finished = [chosen];
    for (const index of finished) {
      for (const dependent of dependents[index] ?? []) {
        if (!inside.has(dependent) || done.has(dependent)) continue;
        const left = (unmet.get(dependent) ?? 0) - 1;
        unmet.set(dependent, left);
        if (dependent < count) fewest.push(left * size + dependent);
        else if (left === 0) {
          done.add(dependent);
          finished.push(dependent);
        }
      }
    }
  }
}
