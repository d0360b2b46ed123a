import { setTimeout as delay } from "node:timers/promises";
import type { SeenReading, Violation } from "../evidence/evidence.ts";
import { type Reading, regressionsBetween } from "../evidence/reading.ts";
import type { Tenant } from "../plans/chaos-plan.ts";
import type { Accepted, ApiClient } from "./api-client.ts";

const READS_AT_ONCE = 16;
const TIMEOUT_MS = 15_000;

/** Options of {@link takeLastReadings}. */
export interface LastReadingsOptions {
  clientOf: Readonly<Record<Tenant, Pick<ApiClient, "read">>>;
  accepted: readonly Accepted[];
  /** The last reading of each watched request. */
  last: ReadonlyMap<Accepted, Reading>;
  /** The seq of the last journal entry of each request before the readings. */
  durable: ReadonlyMap<string, number>;
  report: (violation: Violation) => void;
}

/**
 * Reads every request once more, after all faults are undone, and reports everything that changed since its
 * end.
 */
export async function takeLastReadings(options: LastReadingsOptions): Promise<SeenReading[]> {
  const { clientOf, accepted, last, durable, report } = options;
  const readings: SeenReading[] = [];
  const left = [...accepted];
  const readNext = async (): Promise<void> => {
    for (let ids = left.pop(); ids !== undefined; ids = left.pop()) {
      const reading = await readAgain(clientOf[ids.tenant], ids, last.get(ids), report);
      const { requestId } = ids;
      if (reading) readings.push({ requestId, reading, afterSeq: durable.get(requestId) ?? 0 });
    }
  };
  await Promise.all(Array.from({ length: READS_AT_ONCE }, readNext));
  return readings;
}

/**
 * Checks that a watched request has not changed since its end. Resolves with the last reading, or undefined
 * without an answer.
 */
async function readAgain(
  client: Pick<ApiClient, "read">,
  { requestId }: Accepted,
  before: Reading | undefined,
  report: (violation: Violation) => void,
): Promise<Reading | undefined> {
  const deadlineAt = performance.now() + TIMEOUT_MS;
  const found = (description: string): void =>
    report({ kind: "regressions", id: requestId, expected: "no regression", found: description });
  for (;;) {
    const after = await client.read(requestId, { attempts: true });
    if (after !== undefined) {
      for (const description of before === undefined ? [] : regressionsBetween(before, after))
        found(description);
      return after;
    }
    if (performance.now() > deadlineAt) {
      found("no answer although all faults are undone");
      return undefined;
    }
    await delay(100);
  }
}
