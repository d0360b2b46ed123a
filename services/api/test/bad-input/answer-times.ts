import { expect } from "vitest";

/**
 * An answer within a second is promised, and longer times are reported. A busy machine may take longer, so
 * only a hang is a
 * failure.
 */
const HANGS_AFTER_MS = 5_000;

/** How long the answers of many cases took. */
export interface AnswerTimes {
  /** Runs a case; fails when it hangs. */
  measure<T>(name: string, run: () => Promise<T>): Promise<T>;
  /** One line for people: number of cases, median, 95th percentile and slowest. */
  summary(): string;
}

/** No cases yet. */
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
