import { type Call, type Command, type StepError, type StepRecord, unitKeysOf } from "@planwright/engine";
import { isCarried, type Plan, toolOfStep } from "@planwright/plan";
import type { Liveness, Logger, RunClock } from "@planwright/runtime";
import type {
  AttemptEnd,
  ExecutionStore,
  Intent,
  LastRecords,
  PlanClaim,
  UnitRecord,
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
  toWrite(changed: readonly StepRecord[]): LastRecords;
}

/** Dependencies of {@link createPendingWrites}. */
export interface PendingWritesParts {
  claim: PlanClaim;
  store: Pick<ExecutionStore, "writeIntents" | "noteIntents" | "writeNoted" | "now">;
  timers: Pick<RunTimers, "wakeAt">;
  /** Adds the approval hash to a unit that waits for approval. */
  toUnitRecord: (record: StepRecord) => UnitRecord;
  /** Called when a write that no caller waits for failed. */
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
    timers.wakeAt(at, () => void writeNow().catch(onError));
  }

  return {
    writeSoon,
    async intend(call, of) {
      const intent = { call, ...of };
      // The ends of earlier attempts of the same units are written before this intent. Items that have ended
      // stay as they are.
      const isOpen = (key: string): boolean => !claim.journal.unit(key)?.finishedAt;
      const earlier = takeEnds(unitKeysOf(call)).filter(({ key }) => isOpen(key));
      if (call.effectClass !== "R" || call.mayAct) return store.writeIntents(claim, [intent], earlier);
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

/**
 * No call starts in the last part of the time after which other workers may declare this process dead. Length
 * of this part, in milliseconds.
 */
const LIVENESS_MARGIN_MS = 500;

/** Whether a run may start calls now. */
export interface RightToCall {
  /** True while, as far as this process knows, no other worker can have claimed the plan. */
  isHeld(): boolean;
  /** Waits while the database does not answer. False when the run has ended by then, or the plan is lost. */
  wait(): Promise<boolean>;
}

/** Dependencies of {@link createRightToCall}. */
interface RightToCallParts {
  claim: Pick<PlanClaim, "owner">;
  liveness: Liveness;
  clock: Pick<RunClock, "now">;
  hasEnded: () => boolean;
  /** This process was declared dead and continues under another name. */
  onLost: () => void;
}

export function createRightToCall({
  claim,
  liveness,
  clock,
  hasEnded,
  onLost,
}: RightToCallParts): RightToCall {
  const isOwned = (): boolean => liveness.owner() === claim.owner;
  const isHeld = (): boolean => isOwned() && clock.now() <= liveness.validUntil() - LIVENESS_MARGIN_MS;
  return {
    isHeld,
    async wait() {
      while (!hasEnded() && isOwned() && !isHeld()) await liveness.nextAnswer();
      if (!isOwned()) onLost();
      return !hasEnded();
    },
  };
}

/** The longest delay that `setTimeout` takes. */
const MAX_TIMER_MS = 2_147_483_647;

/** The timers of a run. */
export interface RunTimers {
  /**
   * Calls `then` not before `at` by the store's clock: timers may fire early, and that clock may be corrected
   * meanwhile.
   */
  wakeAt(at: number, then: () => void): void;
  /** Waits before another call. Resolves at once when the signal aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  /** Cancels all timers. */
  end(): void;
}

/** @param now - the store's clock, Unix milliseconds */
export function createRunTimers(clock: Pick<RunClock, "after">, now: () => number): RunTimers {
  /** Cancels each timer that is set. */
  const cancels = new Set<() => void>();

  function wakeAt(at: number, then: () => void): void {
    const delay = Math.min(Math.max(0, at - now()), MAX_TIMER_MS);
    const cancel = clock.after(delay, () => {
      cancels.delete(cancel);
      if (now() < at) wakeAt(at, then);
      else then();
    });
    cancels.add(cancel);
  }

  return {
    wakeAt,
    wait: (ms, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve();
        const end = (): void => {
          signal.removeEventListener("abort", end);
          resolve();
        };
        signal.addEventListener("abort", end, { once: true });
        wakeAt(now() + ms, end);
      }),
    end() {
      for (const cancel of cancels) cancel();
    },
  };
}

/**
 * Logs the work on a plan, so that the log alone shows what happened to a request: which executor claimed it
 * and from which one, which calls failed with which code or were made with a warning, such as a reference that
 * stayed text, and how the plan ended. Problems are warnings.
 */
export interface PlanLog {
  /** The plan was claimed. */
  claimed(claim: PlanClaim): void;
  /** Units changed, durably. */
  recorded(records: readonly StepRecord[]): void;
  /** The plan has ended, durably. */
  ended(end: Pick<Extract<Command, { type: "finish" }>, "status" | "error">): void;
}

/** Most lines about units under one claim: a list has up to 10,000 items. */
const MAX_LINES = 50;
/** Most characters of a tool's message. */
const MAX_MESSAGE = 500;
/** Most units, and most warnings, named in one line. */
const MAX_NAMED = 10;

/** @param logger - adds request, plan and epoch to every line */
export function createPlanLog(logger: Pick<Logger, "info" | "warn">, plan: Plan): PlanLog {
  const tools = new Map<string, string>(plan.steps.map((step) => [step.id, toolOfStep(step)]));
  let left = MAX_LINES;

  function log(level: "info" | "warn", record: StepRecord, message: string): void {
    const { key, stepId, attempts, error, warnings = [] } = record;
    left -= 1;
    if (left < 0) return;
    const texts = warnings.slice(0, MAX_NAMED).map((text) => text.slice(0, MAX_MESSAGE));
    const told = texts.length > 0 ? { warnings: texts } : {};
    logger[level]({ step: key, tool: tools.get(stepId), attempts, ...factsOf(error), ...told }, message);
    if (left === 0)
      logger.warn("further calls that fail under this claim are not logged; the request shows them");
  }

  return {
    claimed({ plan: { takenFrom }, records }) {
      logger.info({ steps: plan.steps.length }, "plan claimed");
      if (typeof takenFrom !== "string") return;
      const running = records.filter(({ status }) => status === "RUNNING").map(({ key }) => key);
      const facts = { from: takenFrom, running: running.slice(0, MAX_NAMED), calls: running.length };
      logger.warn(facts, "plan taken over from an executor that did not release it");
    },
    recorded(records) {
      for (const record of records) {
        if (isCarried(record)) continue;
        if (record.status === "FAILED") log("warn", record, "step failed");
        if (record.status === "COMPLETED" && (record.warnings ?? []).length > 0)
          log("warn", record, "step completed with warnings");
        if (record.status === "IN_DOUBT") log("warn", record, "step in doubt");
        if (record.status === "RETRYING") log("info", record, "attempt failed; the call is tried again");
      }
    },
    ended({ status, error }) {
      if (status === "COMPLETED") return logger.info({ status }, "plan finished");
      const data = error?.data;
      const stepId =
        typeof data === "object" && data !== null && "stepId" in data ? data["stepId"] : undefined;
      const step = typeof stepId === "string" ? { step: stepId, tool: tools.get(stepId) } : {};
      const facts = { status, ...step, ...factsOf(error) };
      if (status === "CANCELLED") logger.info(facts, "plan cancelled");
      else logger.warn(facts, status === "PARTIAL" ? "plan ended in part" : "plan failed");
    },
  };
}

function factsOf(error: StepError | undefined): { code?: string; reason?: string } {
  return error ? { code: error.code, reason: error.message.slice(0, MAX_MESSAGE) } : {};
}
