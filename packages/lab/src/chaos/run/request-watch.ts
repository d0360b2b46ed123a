import { setTimeout as delay } from "node:timers/promises";
import type { Random } from "../../random/random.ts";
import type { Violation } from "../evidence/evidence.ts";
import { isSettled, type Reading, regressionsBetween } from "../evidence/reading.ts";
import { type Accepted, type ApiClient, ApiError } from "./api-client.ts";

/** What watching one request needs. */
export interface RequestWatchOptions {
  client: Pick<ApiClient, "read">;
  accepted: Accepted;
  random: Random;
  /** Hears of each look. */
  see: (reading: Reading) => void;
  /** Hears of everything that goes back, and of an id that is not known any more. */
  report: (violation: Violation) => void;
  /** Ends the watch. */
  signal: AbortSignal;
}

/** Pause between two looks, in milliseconds; up to half as much again is added. */
const LOOK_EVERY_MS = 900;

/**
 * Asks for a request again and again, as a client would, until nothing more will happen to it or the signal comes.
 * Resolves with the last look; undefined when there never was one.
 */
export async function watchRequest(options: RequestWatchOptions): Promise<Reading | undefined> {
  const { client, accepted, random, see, report, signal } = options;
  const { requestId } = accepted;
  let last: Reading | undefined;
  while (!signal.aborted) {
    const reading = await look();
    if (reading !== undefined) {
      see(reading);
      for (const words of last === undefined ? [] : regressionsBetween(last, reading)) {
        report({ kind: "regressions", id: requestId, expected: "nothing to go back", found: words });
      }
      last = reading;
      if (isSettled(reading)) return last;
    }
    await delay(LOOK_EVERY_MS * (1 + random.next() / 2));
  }
  return last;

  async function look(): Promise<Reading | undefined> {
    try {
      return await client.read(requestId);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const found = `${error.facts.code}: ${error.message}`;
      report({ kind: "lost", id: requestId, expected: "a request whose id was returned", found });
      return undefined;
    }
  }
}
