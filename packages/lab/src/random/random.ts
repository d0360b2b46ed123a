import { createHash } from "node:crypto";
import { uniformFloat64 } from "pure-rand/distribution/uniformFloat64";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";

/** A source of random values. A seed repeats them exactly, on every machine. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** True with this probability. Always draws one value, so that later values do not depend on the answer. */
  chance(probability: number): boolean;
  /** An integer from `from` to `to`, both included. */
  whole(from: number, to: number): number;
  /** One of the choices, each with the same probability. @throws {RangeError} without choices */
  pick<T>(choices: readonly T[]): T;
  /** One of the choices by weight. @throws {RangeError} without choices */
  weighted<T>(choices: readonly (readonly [weight: number, choice: T])[]): T;
  /** The same items in random order. */
  shuffled<T>(items: readonly T[]): T[];
  /**
   * An independent stream for this seed and name, so that the draws of one part do not change those of
   * another.
   */
  stream(name: string): Random;
}

/** The random values of a seed. Equal seeds and names give equal values. */
export function createRandom(seed: number, name = ""): Random {
  const generator = xoroshiro128plus(hashOf(`${seed}${name}`));
  const next = (): number => uniformFloat64(generator);
  const whole = (from: number, to: number): number => from + Math.floor(next() * (to - from + 1));
  return {
    next,
    whole,
    chance: (probability) => next() < probability,
    pick: (choices) => at(choices, whole(0, choices.length - 1)),
    weighted(choices) {
      let left = next() * choices.reduce((sum, [weight]) => sum + weight, 0);
      const index = choices.findIndex(([weight]) => {
        left -= weight;
        return left < 0;
      });
      return at(choices, index)[1];
    },
    shuffled: (items) =>
      items
        .map((item) => [next(), item] as const)
        .toSorted(([a], [b]) => a - b)
        .map(([, item]) => item),
    stream: (inner) => createRandom(seed, `${name}/${inner}`),
  };
}

function at<T>(choices: readonly T[], index: number): T {
  const found = choices[index];
  if (found === undefined) throw new RangeError("There is nothing to choose from");
  return found;
}

/** A 32-bit integer that is always the same for the same text. */
export const hashOf = (text: string): number => createHash("sha256").update(text).digest().readUInt32BE();

/** A number in [0, 1) that is always the same for the same texts. */
export const fractionOf = (...texts: readonly (string | number)[]): number =>
  hashOf(JSON.stringify(texts)) / 2 ** 32;
