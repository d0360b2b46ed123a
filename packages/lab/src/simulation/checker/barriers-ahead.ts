/**
 * The barriers that each position waits for, by a full search: those before it in plan order that do not wait
 * for it, directly or through earlier barriers. This is the rule as documented, independent of the engine's
 * code.
 * @param dependencies - by position
 */
export function barriersAhead(
  dependencies: readonly (readonly number[])[],
  isBarrier: readonly boolean[],
): number[][] {
  const waits = dependencies.map((list) => new Set(list));
  const ahead: number[][] = dependencies.map(() => []);
  for (const [barrier, isOne] of isBarrier.entries()) {
    if (!isOne) continue;
    const awaited = new Set([barrier]);
    for (const next of awaited) for (const other of waits[next] ?? []) awaited.add(other);
    for (let later = barrier + 1; later < waits.length; later++) {
      if (awaited.has(later)) continue;
      waits[later]?.add(barrier);
      ahead[later]?.push(barrier);
    }
  }
  return ahead;
}
