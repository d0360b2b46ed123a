/** Randomness that a seed repeats. */
export interface SeededRandom {
  /** Uniform in [0, 1). */
  next(): number;
  /** Whole number from `low` to `high`, both included. */
  between(low: number, high: number): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  /** One of them, each as likely. @throws {RangeError} when there are none */
  pick<T>(choices: readonly T[]): T;
  /** One of them by weight. @throws {RangeError} when there are none */
  weighted<T>(choices: readonly (readonly [weight: number, choice: T])[]): T;
  /** The same in another order. */
  shuffled<T>(items: readonly T[]): T[];
  /** Randomness of its own, so that what one part draws does not move what another part gets. */
  fork(name: string): SeededRandom;
}

/**
 * Mulberry32: 32 bits of state, good enough to scatter faults and plans.
 * @see https://github.com/cprosche/mulberry32
 */
export function createSeededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const between = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  const at = <T>(choices: readonly T[], index: number): T => {
    const found = choices[index];
    if (found === undefined) throw new RangeError("There is nothing to choose from");
    return found;
  };
  const weighted = <T>(choices: readonly (readonly [number, T])[]): T => {
    let left = next() * choices.reduce((sum, [weight]) => sum + weight, 0);
    const index = choices.findIndex(([weight]) => {
      left -= weight;
      return left < 0;
    });
    return at(choices, index)[1];
  };
  return {
    next,
    between,
    weighted,
    chance: (probability) => next() < probability,
    pick: (choices) => at(choices, between(0, choices.length - 1)),
    shuffled: (items) =>
      items
        .map((item) => [next(), item] as const)
        .toSorted(([a], [b]) => a - b)
        .map(([, item]) => item),
    fork: (name) => createSeededRandom(hash(`${seed}/${name}`)),
  };
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const character of text) value = Math.imul(value ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return value >>> 0;
}
