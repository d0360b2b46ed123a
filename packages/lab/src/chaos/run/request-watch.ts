import { setTimeout as delay } from "node:timers/promises";
import { ApiRefusedError } from "@planwright/client";
import type { Random } from "../../random/random.ts";
import type { Violation } from "../evidence/evidence.ts";
import { isSettled, type Reading, regressionsBetween } from "../evidence/reading.ts";
import type { Accepted, ApiClient } from "./api-client.ts";

/** Options of {@link watchRequest}. */
export interface RequestWatchOptions {
  client: Pick<ApiClient, "read">;
  accepted: Accepted;
  random: Random;
  /** Receives each reading; the next one follows when it resolves. */
  onReading: (reading: Reading) => Promise<void>;
  /** Receives regressions, and ids that the API no longer knows. */
  report: (violation: Violation) => void;
  /** Ends the watch. */
  signal: AbortSignal;
}

/** Pause between two readings, in milliseconds; up to half of it is added at random. */
const READ_EVERY_MS = 900;
/**
 * A reading that took long is followed by a longer pause, as many times as long, as a client's would: otherwise
 * the clients alone keep an overloaded machine overloaded.
 */
const PAUSE_PER_READING = 2;

/**
 * Reads a request repeatedly, like a client, until it is settled or the signal aborts. Resolves with the last
 * reading, or undefined without any.
 */
export async function watchRequest(options: RequestWatchOptions): Promise<Reading | undefined> {
  const { client, accepted, random, onReading, report, signal } = options;
  const { requestId } = accepted;
  let last: Reading | undefined;
  while (!signal.aborted) {
    const startedAt = performance.now();
    const reading = await readOnce();
    const tookMs = performance.now() - startedAt;
    if (reading !== undefined) {
      await onReading(reading);
      for (const description of last === undefined ? [] : regressionsBetween(last, reading)) {
        report({ kind: "regressions", id: requestId, expected: "no regression", found: description });
      }
      last = reading;
      if (isSettled(reading)) return last;
    }
    await delay(READ_EVERY_MS * (1 + random.next() / 2) + tookMs * PAUSE_PER_READING);
  }
  return last;

  async function readOnce(): Promise<Reading | undefined> {
    try {
      return await client.read(requestId);
    } catch (error) {
      if (!(error instanceof ApiRefusedError)) throw error;
      const found = `${error.facts.code}: ${error.message}`;
      report({ kind: "lost", id: requestId, expected: "a request whose id was returned", found });
      return undefined;
    }
  }
}
