import { type Call, type StepRecord, unitKeysOf } from "@planwright/engine";
import { isRepeatable } from "@planwright/plan";
import type {
  AttemptEnd,
  ExecutionStore,
  Intent,
  PlanClaim,
  UnitRecord,
  UnitResults,
} from "@planwright/store";

/**
 * Intents and results of reads are written after this time at the latest, in milliseconds: a call that takes
 * longer is shown as RUNNING, and a run of short reads is one entry.
 */
const WRITE_AFTER_MS = 20;
/** Least time between two writes of this kind, in milliseconds: a plan of many short reads has few entries. */
const BETWEEN_WRITES_MS = 100;

/** Intents, ends of attempts and warnings that a run has to write beside the new states of its units. */
export interface PendingWrites {
  /**
   * Durable when it returns. Exception: the intent of a repeatable call (class R) is noted, and written soon.
   */
  intend(call: Call, of: Omit<Intent, "call">): Promise<void>;
  /**
   * Writes soon what was noted in the plan's journal: with the next event that has to be durable first, such as
   * an unsafe intent or the plan's end, or after 20 ms, but not before 100 ms after the last such write.
   */
  writeSoon(): void;
  /** How the call ended, for all units that it served. */
  ended(call: Call, end: Omit<AttemptEnd, "key">): void;
  /** A warning about the running attempt. */
  warn(call: Call, warning: string): void;
  /** New states, with the ends of attempts that led to them. */
  toWrite(changed: readonly StepRecord[]): UnitResults;
}

/** Dependencies of {@link createPendingWrites}. */
interface PendingWritesParts {
  claim: PlanClaim;
  store: Pick<ExecutionStore, "writeIntents" | "noteIntents" | "writeNoted" | "now">;
  /** Calls `then` not before `at` by the store's clock. */
  wakeAt: (at: number, then: () => void) => void;
  /** Adds the approval hash to a unit that waits for approval. */
  toUnitRecord: (record: StepRecord) => UnitRecord;
  /** Called when a write that no caller waits for failed. */
  onError: (error: unknown) => void;
}

/** Creates pending writes; nothing is pending yet. */
export function createPendingWrites(parts: PendingWritesParts): PendingWrites {
  const { claim, store, wakeAt, toUnitRecord, onError } = parts;
  /**
   * Ends of attempts of each unit that are not written yet. There may be several: a look-up follows a lost
   * answer without a write in between.
   */
  const ends = new Map<string, AttemptEnd[]>();
  /** Warnings of each unit, until it is written. */
  const warnings = new Map<string, string[]>();
  let isWriteScheduled = false;
  let writtenAt = Number.NEGATIVE_INFINITY;

  /** Unwritten ends of attempts of these units. */
  function takeEnds(keys: readonly string[]): AttemptEnd[] {
    if (ends.size === 0) return [];
    const ended = keys.flatMap((key) => ends.get(key) ?? []);
    for (const key of keys) ends.delete(key);
    return ended;
  }

  function withWarning(record: StepRecord): StepRecord {
    const added = warnings.get(record.key);
    if (added === undefined) return record;
    warnings.delete(record.key);
    return { ...record, warnings: [...new Set([...(record.warnings ?? []), ...added])].toSorted() };
  }

  async function writeNow(): Promise<void> {
    isWriteScheduled = false;
    writtenAt = store.now();
    await store.writeNoted(claim);
  }

  function writeSoon(): void {
    if (isWriteScheduled) return;
    isWriteScheduled = true;
    const at = Math.max(store.now() + WRITE_AFTER_MS, writtenAt + BETWEEN_WRITES_MS);
    wakeAt(at, () => void writeNow().catch(onError));
  }

  return {
    writeSoon,
    async intend(call, of) {
      const intent = { call, ...of };
      // The ends of earlier attempts of the same units are written before this intent. Items that have ended
      // stay as they are.
      const isOpen = (key: string): boolean => !claim.journal.unit(key)?.finishedAt;
      const earlier = takeEnds(unitKeysOf(call)).filter(({ key }) => isOpen(key));
      if (!isRepeatable(call) || call.mayAct) return store.writeIntents(claim, [intent], earlier);
      store.noteIntents(claim, [intent], earlier);
      writeSoon();
    },
    ended(call, end) {
      for (const key of unitKeysOf(call)) ends.set(key, [...(ends.get(key) ?? []), { key, ...end }]);
    },
    warn(call, warning) {
      for (const key of unitKeysOf(call)) warnings.set(key, [...(warnings.get(key) ?? []), warning]);
    },
    toWrite(changed) {
      const ended = takeEnds(changed.map(({ key }) => key));
      return { records: changed.map((record) => toUnitRecord(withWarning(record))), ends: ended };
    },
  };
}
