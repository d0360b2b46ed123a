/**
 * The barriers that each step waits for, found by a full search: those before the step in plan order that do
 * not depend on it, directly or through earlier barriers. This follows the documented rule and is independent
 * of the engine's code. Steps are given by their positions.
 * @param dependencies - the positions of each step's dependencies
 */
export function barriersBefore(
  dependencies: readonly (readonly number[])[],
  isBarrier: readonly boolean[],
): number[][] {
  const waits = dependencies.map((list) => new Set(list));
  const found: number[][] = dependencies.map(() => []);
  for (const [barrier, isBarrierHere] of isBarrier.entries()) {
    if (!isBarrierHere) continue;
    const awaited = new Set([barrier]);
    for (const next of awaited) for (const other of waits[next] ?? []) awaited.add(other);
    for (let later = barrier + 1; later < waits.length; later++) {
      if (awaited.has(later)) continue;
      waits[later]?.add(barrier);
      found[later]?.push(barrier);
    }
  }
  return found;
}
