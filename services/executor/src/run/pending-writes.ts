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

/** How long a call that may be repeated goes on before it is written as RUNNING, in milliseconds. */
const SHOW_RUNNING_AFTER_MS = 50;

/** What a run has still to write of its units, beside their new states. */
export interface PendingWrites {
  /** Durable when it returns; a call that may be repeated (class R) is written with its result, or after 50 ms. */
  intend(call: Call, of: Omit<Intent, "call">): Promise<void>;
  /** How the call ended, for all units that it served. */
  ended(call: Call, end: Omit<AttemptEnd, "key">): void;
  /** What the attempt under way tells of its tool. */
  warn(call: Call, warning: string): void;
  /** New states, with what they follow from. */
  toWrite(changed: readonly StepRecord[]): LastRecords;
}

/** What that needs. */
export interface PendingWritesParts {
  claim: PlanClaim;
  store: Pick<ExecutionStore, "writeIntents" | "noteIntents" | "writeNoted" | "now">;
  timers: Pick<RunTimers, "wakeAt">;
  /** Adds what operators are shown of a unit that waits for approval. */
  toUnitRecord: (record: StepRecord) => UnitRecord;
  /** Hears that showing what runs failed. */
  onError: (error: unknown) => void;
}

/** Nothing is to be written yet. */
export function createPendingWrites(parts: PendingWritesParts): PendingWrites {
  const { claim, store, timers, toUnitRecord, onError } = parts;
  /** Of each unit, how its attempts ended since it was last written: a look-up follows a lost answer without a write between. */
  const ends = new Map<string, AttemptEnd[]>();
  /** Of each unit, until it is written. */
  const warnings = new Map<string, string>();
  let isToBeShown = false;

  /** How attempts of these units ended, of which nothing was written so far. */
  function takeEnds(keys: readonly string[]): AttemptEnd[] {
    const ended = keys.flatMap((key) => ends.get(key) ?? []);
    for (const key of keys) ends.delete(key);
    return ended;
  }

  function withWarning(record: StepRecord): StepRecord {
    const warning = warnings.get(record.key);
    if (warning === undefined) return record;
    warnings.delete(record.key);
    return { ...record, warnings: [...new Set([...(record.warnings ?? []), warning])].toSorted() };
  }

  /** A short call is written once, with its result; one that takes longer is seen RUNNING. */
  function showSoon(): void {
    if (isToBeShown) return;
    isToBeShown = true;
    timers.wakeAt(store.now() + SHOW_RUNNING_AFTER_MS, () => void show().catch(onError));
  }

  async function show(): Promise<void> {
    isToBeShown = false;
    await store.writeNoted(claim);
  }

  return {
    async intend(call, of) {
      const intent = { call, ...of };
      // Of the same units: what is told next would stand before their ends otherwise. Items that are over stay as they are.
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
      for (const key of unitKeysOf(call)) warnings.set(key, warning);
    },
    toWrite(changed) {
      const ended = takeEnds(changed.map(({ key }) => key));
      return { records: changed.map((record) => toUnitRecord(withWarning(record))), ends: ended };
    },
  };
}
