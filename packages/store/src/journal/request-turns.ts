/**
 * Turns of clients and planners: an entry, and the writes that follow from it to the documents by which
 * readers find requests. The entry is the commit point (R3). A process that dies after it leaves documents
 * that lag; the next process that works on the request completes them.
 */
import type { JournalEntry } from "@planwright/engine";
import { BSON } from "mongodb";
import { repeatUntilAnswered } from "../database/repeat-until-answered.ts";
import { entryIdOf } from "./entry-log.ts";
import { EntryTooLargeError, RequestRemovedError } from "./errors.ts";
import type { AppendResult, NewEntry } from "./journal.ts";
import { type JournalMetrics, timedAppend } from "./journal-metrics.ts";
import type { FollowingWrite, Turn, TurnLog } from "./turn-log.ts";

/**
 * Largest entry of a turn as BSON, in bytes: MongoDB stores 16 MiB in one document. Only a version that
 * carries over very many items comes near this limit.
 */
const MAX_TURN_BYTES = 16_000_000;

/** A turn before its entry has a time and a `writeId`. */
export interface NewTurn extends Pick<Turn, "isKept"> {
  entry: NewEntry;
  /** The writes that follow from the entry, in this order. */
  following: (entry: JournalEntry) => readonly FollowingWrite[];
}

/** Result of a turn. `removed`: there is no such request any more, and nothing of the turn is left. */
export type TurnResult = AppendResult | { type: "removed" };

/** Appends turns. */
export interface RequestTurns {
  /**
   * Resolves when the entry and the writes that follow are durable, or when another entry has the seq.
   * @throws {StoreUnavailableError}
   * @throws {EntryTooLargeError} Nothing is written then. A turn cannot be split over several entries: its
   *   writes follow from the complete turn.
   */
  append(turn: NewTurn): Promise<TurnResult>;
  /**
   * Does the writes that follow from a stored entry: again, or for a process that died.
   * @throws {StoreUnavailableError}
   * @throws {RequestRemovedError} when a document is not there any more
   */
  follow(following: readonly FollowingWrite[]): Promise<void>;
}

/** Options of {@link createRequestTurns}. */
export interface RequestTurnsOptions {
  log: TurnLog;
  /** Identifies this process in each `writeId`. */
  owner: string;
  /** Unix milliseconds, by the clock of the database. */
  now: () => number;
  monotonic: () => number;
  sleep: (ms: number) => Promise<void>;
  /** Counts appends. Default: nothing is counted. */
  metrics?: JournalMetrics | undefined;
  /**
   * How long a turn without an answer is sent again, in milliseconds: a client waits for it. Default 10,000.
   */
  retryForMs?: number | undefined;
  /** Waits between tries, in milliseconds. Default 250. */
  retryEveryMs?: number | undefined;
}

/** Turns over a log. */
export function createRequestTurns(options: RequestTurnsOptions): RequestTurns {
  const { log, owner, now, monotonic, metrics } = options;
  const { sleep, retryForMs = 10_000, retryEveryMs = 250 } = options;
  const repeat = { operation: "journal turn", monotonic, sleep, retryForMs, retryEveryMs };
  let turns = 0;

  async function append(turn: Turn): Promise<AppendResult> {
    requireFit(turn.entry);
    const taken = await repeatUntilAnswered(() => log.append(turn), repeat);
    return taken ? { type: "taken", entry: taken } : { type: "appended", entry: turn.entry };
  }

  return {
    async append({ entry: given, following, isKept }) {
      turns += 1;
      const entry = { ...given, at: new Date(now()), writeId: `${owner}:turn:${turns}` };
      try {
        const appending = append({ entry, following: following(entry), isKept });
        return await timedAppend(appending, { metrics, monotonic });
      } catch (error) {
        if (error instanceof RequestRemovedError) return { type: "removed" };
        throw error;
      }
    },
    follow: (following) => repeatUntilAnswered(() => log.follow(following), repeat),
  };
}

function requireFit(entry: JournalEntry): void {
  const sizeBytes = BSON.calculateObjectSize(entry, { ignoreUndefined: true });
  if (sizeBytes > MAX_TURN_BYTES)
    throw new EntryTooLargeError({ place: entryIdOf(entry), sizeBytes, maxBytes: MAX_TURN_BYTES });
}
