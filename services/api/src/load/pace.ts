import { setTimeout as delay } from "node:timers/promises";

/** Runs a slice of work on large answers. */
export type Pace = <T>(run: () => T | Promise<T>) => Promise<T>;

/** Of a slice, in bytes: what takes a few milliseconds of this process. */
export const SLICE_BYTES = 262_144;
/** Rest behind a slice, as a multiple of how long the slice took. */
const REST_FACTOR = 2;
/** Longest rest, in milliseconds: MongoDB may have been what took long. */
const MAX_REST_MS = 20;

/**
 * One slice at a time in the whole process, with a rest behind each: what is small is answered in between, however many large answers are
 * under way.
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
