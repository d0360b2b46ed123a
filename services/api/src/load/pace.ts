import { setTimeout as delay } from "node:timers/promises";

/** Runs a slice of work on large answers. */
export type Pace = <T>(run: () => T | Promise<T>) => Promise<T>;

/** Size of a slice, in bytes: it takes a few milliseconds of this process. */
export const SLICE_BYTES = 262_144;
/** Pause after a slice, as a multiple of how long the slice took. */
const REST_FACTOR = 2;
/** Longest pause, in milliseconds: the time of a slice may have been spent in MongoDB. */
const MAX_REST_MS = 20;

/**
 * Runs one slice at a time in the whole process, with a pause after each: small answers are sent in between,
 * however many large answers are being made.
 */
export function createPace(): Pace {
  let last: Promise<unknown> = Promise.resolve();
  return (run) => {
    const slice = last.then(async () => {
      const startedAt = performance.now();
      const result = await run();
      return { result, restMs: Math.min(MAX_REST_MS, (performance.now() - startedAt) * REST_FACTOR) };
    });
    last = slice.then(
      ({ restMs }) => delay(restMs),
      () => undefined,
    );
    return slice.then(({ result }) => result);
  };
}
