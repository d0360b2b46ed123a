/**
 * The journal of a request, as its planner writes it (docs/architecture.md, Journal).
 *
 * 1. A claim first appends `planning.began`. From then on appends of earlier planners are refused, and the
 *    state that the claim has read is final.
 * 2. One turn is in flight at a time. It is appended after the entries of other writers: a turn is decided
 *    again when another entry was appended first.
 * 3. Planning that another planner has claimed, that was cancelled or that has ended appends only the ends of
 *    its model calls: their costs are real.
 */
import { advance, type FoldedRequest, type JournalEvent } from "@planwright/engine";
import type { PlanId } from "@planwright/plan";
import type { Journal, NewEntry } from "../journal/journal.ts";
import { nextEntry } from "../journal/next-entry.ts";
import type { RequestTurns } from "../journal/request-turns.ts";
import type { FollowingWrite } from "../journal/turn-log.ts";
import { withoutEventValues } from "../journal/without-values.ts";
import { LeaseLostError } from "../records/errors.ts";
import type { RequestDocument } from "../records/request-document.ts";

/** An entry of a planner, with the writes to documents that follow it. */
export interface PlannerTurn<Done> {
  type: "append";
  events: JournalEvent[];
  /** The version that the entry is about. Default: the version of the request when it was claimed. */
  planId?: PlanId;
  following: (entry: NewEntry, after: FoldedRequest) => FollowingWrite[];
  /** See `Turn`. */
  isKept?: boolean;
  /** The result once the entry is appended. */
  done: Done;
}

/** A turn, or the result when no entry is to be appended. */
export type PlannerDecision<Done> = PlannerTurn<Done> | { type: "nothing"; done: Done };

/** A request's journal for its planner. */
export interface PlannerJournal {
  /**
   * Appends an entry that is decided from all earlier ones. Durable when it returns.
   * @throws {LeaseLostError | StoreUnavailableError}
   */
  append<Done>(decide: (state: FoldedRequest) => PlannerDecision<Done>): Promise<Done>;
  /** The same for facts that do not depend on the lease. @throws {StoreUnavailableError} */
  appendWithoutLease<Done>(decide: (state: FoldedRequest) => PlannerDecision<Done>): Promise<Done>;
}

/** Dependencies of {@link openPlannerJournal}. */
export interface PlannerJournalParts {
  journal: Pick<Journal, "read">;
  turns: RequestTurns;
  /** The document after the claim. */
  request: RequestDocument;
  /** The state before the claim. This object is changed. */
  state: FoldedRequest;
}

/** The journal of a new claim. The caller has to append `planning.began` first. */
export function openPlannerJournal(parts: PlannerJournalParts): PlannerJournal {
  const { journal, turns, request, state } = parts;
  const { _id: requestId, tenant, planId: currentId, epoch, lease } = request;
  const owner = lease?.owner ?? "planner";
  let last: Promise<unknown> = Promise.resolve();

  async function append<Done>(
    decide: (state: FoldedRequest) => PlannerDecision<Done>,
    isWithoutLease: boolean,
  ): Promise<Done> {
    for (;;) {
      if (!isWithoutLease && state.planning.planner?.epoch !== epoch)
        throw new LeaseLostError({ id: requestId, epoch });
      if (state.isRemoved) throw new LeaseLostError({ id: requestId, epoch });
      const decided = decide(state);
      if (decided.type === "nothing") return decided.done;
      const { events, planId: _id = currentId, following, isKept = false, done } = decided;
      const content = { by: { kind: "planner" as const, id: owner }, events };
      const { entry, after } = nextEntry({ _id, requestId, tenant }, state, content);
      const result = await turns.append({ entry, following: (stamped) => following(stamped, after), isKept });
      if (result.type === "appended") {
        advance(state, [withoutEventValues(result.entry)]);
        return done;
      }
      if (result.type === "removed") throw new LeaseLostError({ id: requestId, epoch });
      advance(state, (await journal.read(requestId, state.seq)).map(withoutEventValues));
    }
  }

  function inTurn<Done>(turn: () => Promise<Done>): Promise<Done> {
    const next = last.then(turn);
    // The caller of `turn` gets the error.
    last = next.catch(() => undefined);
    return next;
  }

  return {
    append: (decide) => inTurn(() => append(decide, false)),
    appendWithoutLease: (decide) => inTurn(() => append(decide, true)),
  };
}

/**
 * Appends `planning.began`. False when there is nothing to begin: the journal has the version or a cancel
 * already, and the request's document lags (its process died, or is writing it now).
 */
export async function beginPlanning(
  planner: PlannerJournal,
  { version, planning, epoch, lease, takenFrom = null }: RequestDocument,
): Promise<boolean> {
  const work = planning.work ?? "plan";
  const wanted = work === "replan" ? version + 1 : version;
  return planner.appendWithoutLease<boolean>((state) => {
    const isStored = work !== "answer" && [...state.plans.values()].some((plan) => plan.version >= wanted);
    const isCancelled = work !== "answer" && state.planning.isCancelled;
    // Another planner has claimed the request since.
    const isTaken = state.planning.epoch >= epoch;
    if (isStored || isCancelled || isTaken) return { type: "nothing", done: false };
    const worker = lease?.owner ?? "planner";
    return {
      type: "append",
      events: [{ type: "planning.began", worker, epoch, work, from: takenFrom }],
      following: () => [],
      done: true,
    };
  });
}
