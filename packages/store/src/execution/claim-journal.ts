/**
 * The journal of a plan, as its owner writes it (docs/architecture.md, Journal).
 *
 * 1. Noted events are part of the next entry, in their order. When an entry is durable, all entries before it
 *    are durable.
 * 2. One append is in flight at a time: later events form the next entry (J3).
 * 3. An entry of a higher epoch means that the lease is lost (J1).
 * 4. The first entry under a lease begins with `lease.taken`.
 * 5. Controls of clients and operators are in the next entry, before all noted events (J6).
 * 6. A plan that has ended gets no more entries. A claimer that finds it ended by its predecessor loses the
 *    lease.
 */
import {
  advance,
  type ControlEvent,
  emptyRequest,
  type FoldedPlan,
  type FoldedRequest,
  type FoldedUnit,
  itemKey,
  type JournalEvent,
} from "@planwright/engine";
import { isTerminalPlanStatus, type PlanId, type RequestId } from "@planwright/plan";
import type { Journal, NewEntry } from "../journal/journal.ts";
import { appendAsOwner, type FollowingOf } from "../journal/transact.ts";
import { askedEvent } from "../plans/plan-needs.ts";
import { EntryTooLargeError, LeaseLostError } from "../records/errors.ts";
import type { AskedControl } from "../records/plan-document.ts";

/**
 * Most changes of units in one entry of an owner: events, of which one about several units counts for each. An
 * entry is checked, written and folded in one turn of the event loop: by its owner, by the next one, and by each
 * reader of the API. Only a list that begins, or whose rest ends, is one event however long it is: its items have
 * no values.
 */
const MAX_CHANGES = 1_000;

/** A plan's journal for its owner. */
export type ClaimJournal = ReturnType<typeof openClaimJournal>;

/** A claimed plan, with its owner and its journal. */
export interface ClaimedJournal {
  journal: Journal;
  requestId: RequestId;
  tenant: string;
  planId: PlanId;
  owner: string;
  epoch: number;
  /** The previous owner, if it did not release the plan. */
  takenFrom: string | null;
  /** The state so far; only this claim may hold it, since it is changed. Default: no entries. */
  state?: FoldedRequest | undefined;
  /** The controls in the plan's document. Default: none. */
  controls?: readonly AskedControl[] | undefined;
}

/** The journal of a plan that was just claimed. */
export function openClaimJournal(claimed: ClaimedJournal) {
  const { journal, requestId, tenant, planId, owner, epoch, takenFrom } = claimed;
  const state = claimed.state ?? emptyRequest(requestId);
  let pending: JournalEvent[] = [{ type: "lease.taken", worker: owner, epoch, from: takenFrom }];
  let listeners: (() => void)[] = [];
  /** The append that waits for the one in flight. */
  let next: Promise<void> | undefined;
  let last: Promise<void> = Promise.resolve();
  /** Of the last events of the plan. */
  let followingEnd: FollowingOf | undefined;
  let onControl: () => void = () => undefined;
  /** Number of the latest control that was taken. */
  let taken = state.plans.get(planId)?.controlSeq ?? 0;
  /** Controls that were taken, until the listener was told that they are durable. */
  let asked: ControlEvent[] = [];
  /** Those of them that are not part of an entry yet. */
  let controlsToWrite: ControlEvent[] = [];
  let isClosed = false;

  const lost = (): LeaseLostError => new LeaseLostError({ id: planId, epoch });

  /** @param following - the writes that follow from the last entry */
  async function write(events: readonly JournalEvent[], following?: FollowingOf): Promise<void> {
    const parts = inParts(events);
    const lastPart = parts.pop() ?? [];
    for (const part of parts) await writePart(part, undefined);
    await writePart(lastPart, following);
  }

  async function writePart(
    events: readonly JournalEvent[],
    following: FollowingOf | undefined,
  ): Promise<void> {
    try {
      await appendEntry(events, following);
    } catch (error) {
      if (!(error instanceof EntryTooLargeError) || events.length < 2) throw error;
      const half = Math.ceil(events.length / 2);
      await writePart(events.slice(0, half), undefined);
      await writePart(events.slice(half), following);
    }
  }

  async function appendEntry(
    events: readonly JournalEvent[],
    following: FollowingOf | undefined,
  ): Promise<void> {
    const by = { kind: "executor" as const, id: owner };
    await appendAsOwner({ journal, requestId, tenant, state, requireValid, lost }, () => {
      // An owner that claimed the plan since has appended its lease; an owner before may have ended the plan.
      if (state.epoch > epoch || hasEnded()) throw lost();
      // An owner before this one may have recorded controls since the plan was claimed.
      const open = events.filter((event) => !("asked" in event && isDurable(event)));
      return { planId, epoch, by, events: open, following };
    });
    if (asked.some(isDurable)) queueMicrotask(tell);
  }

  /** @throws {JournalInvalidError} O(events): only the units of these events are copied. */
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

  const isDurable = (control: ControlEvent): boolean => (control.asked?.id ?? 0) <= (plan()?.controlSeq ?? 0);

  /** Not inside an append: the listener may start the next one. */
  function tell(): void {
    if (isClosed) return;
    asked = asked.filter((control) => !isDurable(control));
    onControl();
  }

  function take(controls: readonly AskedControl[]): void {
    const arrived = isClosed ? [] : controls.filter(({ id }) => id > taken);
    if (arrived.length === 0) return;
    taken = arrived.at(-1)?.id ?? taken;
    const events = arrived.map(askedEvent);
    asked.push(...events);
    controlsToWrite.push(...events);
    onControl();
  }

  function flush(): Promise<void> {
    if (next) return next;
    const waiting = last.then(async () => {
      next = undefined;
      const [first, ...others] = pending;
      // The entry that takes the lease begins with that.
      const events =
        first?.type === "lease.taken"
          ? [first, ...controlsToWrite, ...others]
          : [...controlsToWrite, ...pending];
      const told = listeners;
      controlsToWrite = [];
      pending = [];
      listeners = [];
      if (events.length > 0) await write(events, followingEnd);
      for (const listener of told) listener();
    });
    next = waiting;
    last = waiting;
    return waiting;
  }

  const plan = (): FoldedPlan | undefined => state.plans.get(planId);
  const hasEnded = (): boolean => isTerminalPlanStatus(plan()?.status ?? "READY");
  take(claimed.controls ?? []);
  return {
    /** A unit by the durable entries, without output, arguments and data of errors; undefined: no event. */
    unit: (key: string): FoldedUnit | undefined => plan()?.units.get(key),
    units: (): Iterable<FoldedUnit> => plan()?.units.values() ?? [],
    /** The plan folded from the durable entries; undefined while it has no event. */
    plan,
    /** The request folded from the durable entries, with all versions of its plan. */
    request: (): FoldedRequest => state,
    seq: () => state.seq,
    /** Takes controls, each once, for the next entry. None after `close`: the next owner takes them. */
    take,
    /** Controls that were taken and are not in the durable entries yet, oldest first. */
    asked: (): readonly ControlEvent[] => asked,
    /** The owner is leaving the plan: no more controls are taken, and the listener is not called any more. */
    close() {
      isClosed = true;
    },
    /**
     * Number of the latest control with which nothing is left to do: it is durable, and the listener was told
     * so if it is a decision of an operator.
     * @param upTo - the latest control that is durable. Default: as folded
     */
    settled(upTo = plan()?.controlSeq ?? 0) {
      const untold = asked.find(({ type }) => type === "approval.given" || type === "doubt.resolved");
      return untold?.asked ? Math.min(untold.asked.id - 1, upTo) : upTo;
    },
    /** Sets the listener for controls: called when some were taken, and again when they are durable. */
    onControl(listener: () => void) {
      onControl = listener;
    },
    /**
     * Adds events to the next entry.
     * @param onDurable - called when they are durable, before the append that wrote them returns
     */
    note(events: readonly JournalEvent[], onDurable?: () => void) {
      pending.push(...events);
      if (onDurable) listeners.push(onDurable);
    },
    /**
     * Appends these events and the noted ones. If there are none, it waits for the append in flight. Durable
     * when it returns.
     * @throws {LeaseLostError | StoreUnavailableError}
     */
    append(events: readonly JournalEvent[]) {
      pending.push(...events);
      return flush();
    },
    /** Appends the last events of the plan, and waits for the writes that follow from them. */
    appendLast(events: readonly JournalEvent[], following: FollowingOf) {
      pending.push(...events);
      followingEnd = following;
      return flush();
    },
  };
}

/** The events of each entry, in their order. A call for more units than fit into one entry has several events. */
function inParts(events: readonly JournalEvent[]): JournalEvent[][] {
  const parts: JournalEvent[][] = [];
  let room = 0;
  for (const event of events.flatMap(split)) {
    const changes = Math.max(1, keysOf(event).length);
    if (changes > room) {
      parts.push([]);
      room = MAX_CHANGES;
    }
    parts.at(-1)?.push(event);
    room -= changes;
  }
  return parts;
}

function split(event: JournalEvent): JournalEvent[] {
  if (!("units" in event) || event.units.length <= MAX_CHANGES) return [event];
  const parts: JournalEvent[] = [];
  for (let from = 0; from < event.units.length; from += MAX_CHANGES) {
    const some = <Each>(all: readonly Each[]) => all.slice(from, from + MAX_CHANGES);
    const units = some(event.units);
    if (event.type === "attempt.started" && event.itemHashes)
      parts.push({ ...event, units, itemHashes: some(event.itemHashes) });
    else parts.push({ ...event, units });
  }
  return parts;
}

function keysOf(event: JournalEvent): readonly string[] {
  switch (event.type) {
    case "attempt.started":
    case "attempt.ended":
      return event.units;
    case "step.changed":
      return [event.key];
    case "items.closed":
      return Array.from({ length: event.to - event.from + 1 }, (_, index) =>
        itemKey(event.stepId, event.from + index),
      );
    default:
      return [];
  }
}
