/**
 * Turns of clients and planners: an entry, and what follows from it for the documents that readers find
 * requests by. The entry is the commit point (R3); a process that dies after it leaves documents that lag,
 * which the next process that works on the request completes.
 */
import type { JournalEntry } from "@planwright/engine";
import { BSON } from "mongodb";
import { repeatUntilAnswered } from "../database/repeat-until-answered.ts";
import { placeOf } from "./entry-log.ts";
import { EntryTooLargeError } from "./errors.ts";
import type { AppendResult, NewEntry } from "./journal.ts";
import { type JournalMetrics, timedAppend } from "./journal-metrics.ts";
import type { Following, Turn, TurnLog } from "./turn-log.ts";

/**
 * Largest entry of a turn as BSON, in bytes: MongoDB stores 16 MiB in one document. Only a version that
 * carries over very many items comes near it.
 */
const MAX_TURN_BYTES = 16_000_000;

/** A turn before it has a time and a name. */
export interface NewTurn extends Pick<Turn, "isKept"> {
  entry: NewEntry;
  /** What follows from it, in this order. */
  following: (entry: JournalEntry) => readonly Following[];
}

/** Appends turns. */
export interface RequestTurns {
  /**
   * Durable when it answers, with what follows, or another entry stands at the place.
   * @throws {StoreUnavailableError}
   * @throws {EntryTooLargeError} Nothing is written then. A turn cannot go into several entries: what follows
   *   from it follows at once.
   */
  append(turn: NewTurn): Promise<AppendResult>;
  /**
   * Does what follows from an entry that is there: again, or for a process that died.
   * @throws {StoreUnavailableError}
   */
  follow(following: readonly Following[]): Promise<void>;
}

/** What appending turns needs. */
export interface RequestTurnsOptions {
  log: TurnLog;
  /** Names this process in what it writes. */
  owner: string;
  /** Unix milliseconds, by the clock of the database. */
  now: () => number;
  monotonic: () => number;
  sleep: (ms: number) => Promise<void>;
  /** Counts appends. Default: nothing is counted. */
  metrics?: JournalMetrics | undefined;
  /** How long what was not answered is sent again, in milliseconds: a client waits for it. Default 10,000. */
  retryForMs?: number | undefined;
  /** Waits between tries, in milliseconds. Default 250. */
  retryEveryMs?: number | undefined;
}

/** Turns over a log. */
export function createRequestTurns(options: RequestTurnsOptions): RequestTurns {
  const { log, owner, now, monotonic, metrics } = options;
  const { sleep, retryForMs = 10_000, retryEveryMs = 250 } = options;
  const again = { operation: "journal turn", monotonic, sleep, retryForMs, retryEveryMs };
  let turns = 0;

  async function append(turn: Turn): Promise<AppendResult> {
    requireFit(turn.entry);
    const taken = await repeatUntilAnswered(() => log.append(turn), again);
    return taken ? { type: "taken", entry: taken } : { type: "appended", entry: turn.entry };
  }

  return {
    append({ entry: given, following, isKept }) {
      turns += 1;
      const entry = { ...given, at: new Date(now()), writeId: `${owner}:turn:${turns}` };
      return timedAppend(append({ entry, following: following(entry), isKept }), { metrics, monotonic });
    },
    follow: (following) => repeatUntilAnswered(() => log.follow(following), again),
  };
}

function requireFit(entry: JournalEntry): void {
  const sizeBytes = BSON.calculateObjectSize(entry, { ignoreUndefined: true });
  if (sizeBytes > MAX_TURN_BYTES)
    throw new EntryTooLargeError({ place: placeOf(entry), sizeBytes, maxBytes: MAX_TURN_BYTES });
}
