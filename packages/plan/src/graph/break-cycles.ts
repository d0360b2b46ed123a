import type { Policy } from "../policy/policy.ts";
import { components, type Edges, reversed } from "./edges.ts";
import { MinHeap } from "./min-heap.ts";

/** A graph without cycles, and the edges that were given up for it, as [position, what it waited for]. */
export interface Acyclic {
  dependencies: number[][];
  dropped: [number, number][];
}

/**
 * Gives up edges inside cycles, never one between cycles or behind them. `break-fewest`: while all members of
 * a cycle wait, the one with the fewest unmet dependencies, then the first, opens it (see {@link openersOf}).
 * `run-together`: no member waits for another. O((V + E) log V).
 * @param count - positions from here on are gates ("all calls of a tool"), which stand for what they wait
 * for: a position that gives up a gate still waits for what is behind it outside the cycle. Further gates are
 * appended for that. Default: no gates
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
    const giveUp = (index: number, isDone: (other: number) => boolean) => {
      kept[index] = (kept[index] ?? []).flatMap((other) => {
        if (!inside.has(other) || isDone(other)) return other;
        dropped.push([index, other]);
        if (other < count) return [];
        const done = (dependencies[other] ?? []).filter((call) => inside.has(call) && isDone(call));
        return [...outsideGate(other), ...done];
      });
    };
    if (onCycle === "run-together") {
      for (const index of members) if (index < count) giveUp(index, () => false);
    } else breakFewest(members, { dependencies, dependents, inside, count, giveUp });
  }
  return { dependencies: kept, dropped };
}

/**
 * The positions that open a cycle under `break-fewest`, and how many dependencies each gave up: they go only
 * when nothing else can run, the one with the fewest first. Under `run-together` there is none: every
 * position of a cycle starts when it can.
 */
export function openersOf({ dropped }: Acyclic, onCycle: Policy["onCycle"]): Map<number, number> {
  const openers = new Map<number, number>();
  if (onCycle !== "break-fewest") return openers;
  for (const [position] of dropped) openers.set(position, (openers.get(position) ?? 0) + 1);
  return openers;
}

/**
 * For a gate of a cycle: the gate that stands for what is behind it outside the cycle, made once; nothing
 * when nothing is.
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
    giveUp: (index: number, isDone: (other: number) => boolean) => void;
  },
): void {
  const { dependencies, dependents, inside, count, giveUp } = component;
  const unmet = new Map<number, number>();
  const fewest = new MinHeap();
  const size = dependencies.length;
  const done = new Set<number>();
  for (const index of members) {
    const waits = dependencies[index]?.filter((other) => inside.has(other)).length ?? 0;
    unmet.set(index, waits);
    if (index < count) fewest.push(waits * size + index);
  }
  for (let entry = fewest.pop(); entry !== undefined; entry = fewest.pop()) {
    const chosen = entry % size;
    // An entry made before the count went down again, or for a member that has gone.
    if (done.has(chosen) || unmet.get(chosen) !== (entry - chosen) / size) continue;
    if (unmet.get(chosen) !== 0) giveUp(chosen, (other) => done.has(other));
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
