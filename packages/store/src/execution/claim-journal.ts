/**
 * The journal in the hands of a plan's owner (DESIGN §6).
 *
 * 1. What is noted goes with the next entry, in the order in which it happened; an entry that is durable has
 *    all before it durable.
 * 2. One append is under way at a time: what comes meanwhile is the next entry (J3).
 * 3. An entry goes behind what others have appended meanwhile; an entry of a higher epoch says that the lease
 *    is lost (J1).
 * 4. The first entry under a lease begins with the lease.
 * 5. An entry that cannot follow from those before it is not written: the journal could not be read any more.
 * 6. Nothing is told of a plan that has ended: who finds that its predecessor ended it has lost it.
 */
import {
  advance,
  emptyRequest,
  type FoldedPlan,
  type FoldedRequest,
  type FoldedUnit,
  fold,
  type JournalEntry,
  type JournalEvent,
} from "@planwright/engine";
import { isTerminalPlanStatus, type PlanId, type RequestId } from "@planwright/plan";
import { EntryTooLargeError } from "../journal/errors.ts";
import type { Journal, NewEntry } from "../journal/journal.ts";
import type { Following } from "../journal/turn-log.ts";
import { withoutEventValues } from "../journal/without-values.ts";
import { LeaseLostError } from "../records/errors.ts";

/** A plan's journal, as its owner writes it. */
export interface ClaimJournal {
  /**
   * A unit as the entries that are durable tell it, without output, arguments and data of errors; undefined
   * while nothing is told of it.
   */
  unit(key: string): FoldedUnit | undefined;
  /** All of which something is told. */
  units(): Iterable<FoldedUnit>;
  /** The plan as the durable entries tell it; undefined while nothing is told of it. */
  plan(): FoldedPlan | undefined;
  /** The place of the last entry that is known. */
  seq(): number;
  /** Reads what others have appended. @throws {StoreUnavailableError} */
  catchUp(): Promise<void>;
  /** Has this hear of controls, behind the one that was told last: each may tell of several. */
  onControl(listener: () => void): void;
  /** Has the next entry tell this. */
  note(events: readonly JournalEvent[]): void;
  /**
   * Tells this, and what was noted; where that is nothing, it waits for what is under way. Durable when it
   * returns.
   * @throws {LeaseLostError | StoreUnavailableError}
   */
  append(events: readonly JournalEvent[]): Promise<void>;
  /**
   * The same for what nothing more is told behind, with what follows from it. Says whether that is done;
   * otherwise it is left to the caller.
   * @param followingOf - what follows from the entry, and the request behind it
   */
  appendLast(events: readonly JournalEvent[], followingOf: FollowingOf): Promise<boolean>;
}

/** What follows from an entry, and the request behind it. */
export type FollowingOf = (entry: JournalEntry, after: FoldedRequest) => Following[];

/** Who owns what. */
export interface ClaimedJournal {
  journal: Journal;
  requestId: RequestId;
  tenant: string;
  planId: PlanId;
  owner: string;
  epoch: number;
  /** Who held the plan and did not release it. */
  takenFrom: string | null;
  /** The state so far, which the claim alone holds. Default: nothing was told. */
  state?: FoldedRequest | undefined;
}

/** The journal of a plan that was just claimed. */
export function openClaimJournal(claimed: ClaimedJournal): ClaimJournal {
  const { journal, requestId, tenant, planId, owner, epoch, takenFrom } = claimed;
  const state = claimed.state ?? emptyRequest(requestId);
  let pending: JournalEvent[] = [{ type: "lease.taken", worker: owner, epoch, from: takenFrom }];
  /** The append that waits for the one under way. */
  let next: Promise<void> | undefined;
  let last: Promise<void> = Promise.resolve();
  /** Of what is told last. */
  let followingOf: FollowingOf | undefined;
  let isFollowed = false;
  let onControl: () => void = () => undefined;

  const lost = (): LeaseLostError => new LeaseLostError({ id: planId, epoch });

  async function write(events: readonly JournalEvent[], follows?: FollowingOf): Promise<void> {
    try {
      await appendEntry(events, follows);
    } catch (error) {
      if (!(error instanceof EntryTooLargeError) || events.length < 2) throw error;
      const half = Math.ceil(events.length / 2);
      await write(events.slice(0, half));
      await write(events.slice(half), follows);
    }
  }

  async function appendEntry(
    events: readonly JournalEvent[],
    follows: FollowingOf | undefined,
  ): Promise<void> {
    const by = { kind: "executor" as const, id: owner };
    for (;;) {
      // An owner that claimed the request since has told so; one before may have ended the plan.
      if (state.epoch > epoch || hasEnded()) throw lost();
      const entry = { requestId, tenant, planId, epoch, by, events: [...events], seq: state.seq + 1 };
      requireValid(entry);
      const result = await journal.append(
        entry,
        follows && ((stamped) => follows(stamped, fold(state, [withoutEventValues(stamped)]))),
      );
      if (result.type === "appended") {
        isFollowed = result.isFollowed ?? false;
        return follow([result.entry]);
      }
      follow(await journal.read(requestId, state.seq));
    }
  }

  /** @throws {JournalInvalidError} O(events): of the plan no more is copied than they tell of. */
  function requireValid(entry: NewEntry): void {
    const plans = new Map(state.plans);
    const known = plans.get(planId);
    if (known) {
      const units = new Map<string, FoldedUnit>();
      for (const key of entry.events.flatMap(keysOf)) {
        const unit = known.units.get(key);
        if (unit) units.set(key, unit);
      }
      plans.set(planId, { ...known, units, approvals: [], resolutions: [] });
    }
    advance({ ...state, plans }, [{ ...entry, at: new Date(0), writeId: "" }]);
  }

  function follow(entries: readonly JournalEntry[]): void {
    advance(state, entries.map(withoutEventValues));
    // Not inside an append: what is heard may lead to the next one.
    if (entries.some(({ by }) => by.kind === "api")) queueMicrotask(() => onControl());
  }

  /** Behind the append that is under way: its entry is not to be read as another one's. */
  function catchUp(): Promise<void> {
    const reading = last.then(async () => follow(await journal.read(requestId, state.seq)));
    last = Promise.all([last, reading.catch(() => undefined)]).then(() => undefined);
    // An append that failed has told so itself.
    last.catch(() => undefined);
    return reading;
  }

  function flush(): Promise<void> {
    if (next) return next;
    const waiting = last.then(() => {
      next = undefined;
      const events = pending;
      pending = [];
      return events.length > 0 ? write(events, followingOf) : undefined;
    });
    next = waiting;
    last = waiting;
    return waiting;
  }

  const plan = (): FoldedPlan | undefined => state.plans.get(planId);
  const hasEnded = (): boolean => isTerminalPlanStatus(plan()?.status ?? "READY");
  return {
    unit: (key) => plan()?.units.get(key),
    units: () => plan()?.units.values() ?? [],
    plan,
    seq: () => state.seq,
    catchUp,
    onControl(listener) {
      onControl = listener;
    },
    note: (events) => void pending.push(...events),
    append(events) {
      pending.push(...events);
      return flush();
    },
    async appendLast(events, of) {
      pending.push(...events);
      followingOf = of;
      await flush();
      return isFollowed;
    },
  };
}

/** Keys of the units that an event tells of. */
function keysOf(event: JournalEvent): readonly string[] {
  switch (event.type) {
    case "attempt.started":
    case "attempt.ended":
      return event.units;
    case "step.changed":
      return [event.key];
    default:
      return [];
  }
}
