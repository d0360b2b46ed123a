import { setTimeout as delay } from "node:timers/promises";

/** Runs a slice of work on large answers. */
export type Pace = <T>(run: () => T | Promise<T>) => Promise<T>;

/** Size of a slice, in bytes: it takes a few milliseconds of this process. */
export const SLICE_BYTES = 262_144;
/** Pause after a slice, as a multiple of the duration of the slice. */
const PAUSE_FACTOR = 2;
/** Longest pause, in milliseconds: the time of a slice may have been spent in MongoDB. */
const MAX_PAUSE_MS = 20;

/** Duration of a slice of {@link runInSlices}, in milliseconds. */
const SLICE_MS = 10;

/** Runs work that is divided into short steps to its end, in slices of some of its steps. */
export async function runInSlices<T>(pace: Pace, steps: Generator<void, T>): Promise<T> {
  for (;;) {
    const last = await pace(() => {
      const endsAt = performance.now() + SLICE_MS;
      let step = steps.next();
      while (!step.done && performance.now() < endsAt) step = steps.next();
      return step;
    });
    if (last.done) return last.value;
  }
}

/**
 * Runs one slice at a time in the process, with a pause after each, so that small answers are sent in
 * between, however many large answers are being made.
 */
export function createPace(): Pace {
  let last: Promise<unknown> = Promise.resolve();
  return (run) => {
    const slice = last.then(async () => {
      const startedAt = performance.now();
      const result = await run();
      return { result, pauseMs: Math.min(MAX_PAUSE_MS, (performance.now() - startedAt) * PAUSE_FACTOR) };
    });
    last = slice.then(
      ({ pauseMs }) => delay(pauseMs),
      () => undefined,
    );
    return slice.then(({ result }) => result);
  };
}
