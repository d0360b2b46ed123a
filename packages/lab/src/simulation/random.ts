/** A source of chance that repeats itself exactly. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** True with this probability; draws always, so that what follows does not depend on the answer. */
  chance(probability: number): boolean;
  /** A whole number from `from` to `to`, both included. */
  whole(from: number, to: number): number;
  /** One of a list that is not empty. */
  pick<T>(list: readonly [T, ...T[]]): T;
  /** Another stream, from the same seed and this name: what one part of the world draws moves no other part. */
  stream(name: string): Random;
}

/** A stream of the seed. Equal seeds and names give equal streams, on every machine. */
export function createRandom(seed: number, name = ""): Random {
  const next = sfc32(seed, hashOf(name));
  const random: Random = {
    next,
    chance: (probability) => next() < probability,
    whole: (from, to) => from + Math.floor(next() * (to - from + 1)),
    pick: (list) => list[Math.floor(next() * list.length)] ?? list[0],
    stream: (inner) => createRandom(seed, `${name}/${inner}`),
  };
  return random;
}

/** FNV-1a, 32 bits. */
export function hashOf(text: string, start = 0x811c9dc5): number {
  let hash = start;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}

/**
 * Small Fast Counter, 32 bits.
 * @see C. Doty-Humphrey, PractRand, sfc32
 */
function sfc32(seed: number, name: number): () => number {
  let [a, b, c, counter] = [seed | 0, name | 0, 0x9e3779b9 | 0, 1];
  const next = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + sum) | 0;
    return (sum >>> 0) / 4_294_967_296;
  };
  for (let warmUp = 0; warmUp < 12; warmUp++) next();
  return next;
}
