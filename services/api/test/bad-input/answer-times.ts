import { expect } from "vitest";

/**
 * A second is promised, and told of; a machine with much else to do may take more, and only what hangs is a
 * failure.
 */
const HANGS_AFTER_MS = 5_000;

/** How long the answers of many cases took. */
export interface AnswerTimes {
  /** Runs a case; fails when it hangs. */
  measure<T>(name: string, run: () => Promise<T>): Promise<T>;
  /** One line for people: how many, the median, the 95th percentile and the slowest. */
  summary(): string;
}

/** Of no case yet. */
export function createAnswerTimes(): AnswerTimes {
  const answers: { name: string; ms: number }[] = [];
  return {
    async measure(name, run) {
      const startedAt = performance.now();
      const result = await run();
      const ms = performance.now() - startedAt;
      answers.push({ name, ms });
      expect(ms).toBeLessThan(HANGS_AFTER_MS);
      return result;
    },
    summary() {
      const sorted = answers.toSorted((a, b) => a.ms - b.ms);
      const within = (share: number) => Math.round(sorted[Math.ceil(share * sorted.length) - 1]?.ms ?? 0);
      return `${sorted.length} cases, median ${within(0.5)} ms, p95 ${within(0.95)} ms, slowest ${within(1)} ms: ${sorted.at(-1)?.name}`;
    },
  };
}
