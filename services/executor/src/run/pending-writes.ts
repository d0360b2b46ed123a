import { type Call, type StepRecord, unitKeysOf } from "@planwright/engine";
import type {
  AttemptEnd,
  ExecutionStore,
  Intent,
  LastRecords,
  PlanClaim,
  UnitRecord,
} from "@planwright/store";
import type { RunTimers } from "./timers.ts";

/** A repeatable call that runs longer than this is written as RUNNING, in milliseconds. */
const SHOW_RUNNING_AFTER_MS = 50;

/** Intents, ends of attempts and warnings that a run has to write beside the new states of its units. */
export interface PendingWrites {
  /**
   * Durable when it returns. Exception: the intent of a repeatable call (class R) is written with its result,
   * or after 50 ms.
   */
  intend(call: Call, of: Omit<Intent, "call">): Promise<void>;
  /** How the call ended, for all units that it served. */
  ended(call: Call, end: Omit<AttemptEnd, "key">): void;
  /** A warning about the running attempt. */
  warn(call: Call, warning: string): void;
  /** New states, with the ends of attempts that led to them. */
  toWrite(changed: readonly StepRecord[]): LastRecords;
}

/** Dependencies of {@link createPendingWrites}. */
export interface PendingWritesParts {
  claim: PlanClaim;
  store: Pick<ExecutionStore, "writeIntents" | "noteIntents" | "writeNoted" | "now">;
  timers: Pick<RunTimers, "wakeAt">;
  /** Adds the approval hash to a unit that waits for approval. */
  toUnitRecord: (record: StepRecord) => UnitRecord;
  /** Called when writing a RUNNING state failed. */
  onError: (error: unknown) => void;
}

/** Creates pending writes; nothing is pending yet. */
export function createPendingWrites(parts: PendingWritesParts): PendingWrites {
  const { claim, store, timers, toUnitRecord, onError } = parts;
  /**
   * Ends of attempts of each unit that are not written yet. There may be several: a look-up follows a lost
   * answer without a write in between.
   */
  const ends = new Map<string, AttemptEnd[]>();
  /** Warnings of each unit, until it is written. */
  const warnings = new Map<string, string[]>();
  let isShowScheduled = false;

  /** Unwritten ends of attempts of these units. */
  function takeEnds(keys: readonly string[]): AttemptEnd[] {
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

  /** A short call is written once, with its result; a longer one becomes visible as RUNNING. */
  function showSoon(): void {
    if (isShowScheduled) return;
    isShowScheduled = true;
    timers.wakeAt(store.now() + SHOW_RUNNING_AFTER_MS, () => void show().catch(onError));
  }

  async function show(): Promise<void> {
    isShowScheduled = false;
    await store.writeNoted(claim);
  }

  return {
    async intend(call, of) {
      const intent = { call, ...of };
      // The ends of earlier attempts of the same units are written before this intent. Items that have ended
      // stay as they are.
      const isOpen = (key: string): boolean => !claim.journal.unit(key)?.finishedAt;
      const earlier = takeEnds(unitKeysOf(call)).filter(({ key }) => isOpen(key));
      if (call.effectClass !== "R" || call.mayAct) return store.writeIntents(claim, [intent], earlier);
      store.noteIntents(claim, [intent], earlier);
      showSoon();
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
