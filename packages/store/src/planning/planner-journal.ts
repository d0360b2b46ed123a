/**
 * The journal in the hands of a request's planner (DESIGN §6).
 *
 * 1. A claim tells that planning began before anything else: from then on what planners before it tell is
 *    refused, and what it has read can no longer change under it.
 * 2. One turn is under way at a time, behind all that others have told meanwhile: a turn is decided again
 *    where something came between.
 * 3. Planning that was given to another planner, or cancelled, or that has ended, tells nothing more, but how
 *    its model calls ended: what was spent is spent.
 */
import { advance, type FoldedRequest, type JournalEvent } from "@planwright/engine";
import type { PlanId } from "@planwright/plan";
import type { Journal, NewEntry } from "../journal/journal.ts";
import { nextEntry } from "../journal/next-entry.ts";
import type { RequestTurns } from "../journal/request-turns.ts";
import type { Following } from "../journal/turn-log.ts";
import { withoutEventValues } from "../journal/without-values.ts";
import { LeaseLostError } from "../records/errors.ts";
import type { RequestDocument } from "../records/request-document.ts";

/** What a planner tells, with what follows for documents. */
export interface PlannerTurn<Done> {
  type: "tell";
  events: JournalEvent[];
  /** The version that is told of. Default: the one that the request had when it was claimed. */
  planId?: PlanId;
  following: (entry: NewEntry, after: FoldedRequest) => Following[];
  /** See `Turn`. */
  isKept?: boolean;
  /** The result once it is told. */
  done: Done;
}

/** A turn, or the result where nothing is told. */
export type PlannerDecision<Done> = PlannerTurn<Done> | { type: "nothing"; done: Done };

/** A request's journal, as its planner writes it. */
export interface PlannerJournal {
  /**
   * Appends what follows from all earlier entries. Durable when it returns.
   * @throws {LeaseLostError | StoreUnavailableError}
   */
  tell<Done>(decide: (state: FoldedRequest) => PlannerDecision<Done>): Promise<Done>;
  /** The same for what is true whichever planner holds the request now. @throws {StoreUnavailableError} */
  tellAnyway<Done>(decide: (state: FoldedRequest) => PlannerDecision<Done>): Promise<Done>;
}

/** What a planner's journal needs. */
export interface PlannerJournalParts {
  journal: Pick<Journal, "read">;
  turns: RequestTurns;
  /** As it was claimed. */
  request: RequestDocument;
  /** What was told before the claim. It is changed. */
  state: FoldedRequest;
}

/** A journal whose planner has not told yet that it began: that comes first. */
export function openPlannerJournal(parts: PlannerJournalParts): PlannerJournal {
  const { journal, turns, request, state } = parts;
  const { _id: requestId, tenant, planId: currentId, epoch, lease } = request;
  const owner = lease?.owner ?? "planner";
  let last: Promise<unknown> = Promise.resolve();

  async function append<Done>(
    decide: (state: FoldedRequest) => PlannerDecision<Done>,
    isAnyway: boolean,
  ): Promise<Done> {
    for (;;) {
      if (!isAnyway && state.planning.planner?.epoch !== epoch)
        throw new LeaseLostError({ id: requestId, epoch });
      const decided = decide(state);
      if (decided.type === "nothing") return decided.done;
      const { events, planId: _id = currentId, following, isKept = false, done } = decided;
      const told = { by: { kind: "planner" as const, id: owner }, events };
      const { entry, after } = nextEntry({ _id, requestId, tenant }, state, told);
      const result = await turns.append({ entry, following: (told) => following(told, after), isKept });
      if (result.type === "appended") {
        advance(state, [withoutEventValues(result.entry)]);
        return done;
      }
      advance(state, (await journal.read(requestId, state.seq)).map(withoutEventValues));
    }
  }

  function inTurn<Done>(turn: () => Promise<Done>): Promise<Done> {
    const next = last.then(turn);
    // Its caller hears of it.
    last = next.catch(() => undefined);
    return next;
  }

  return {
    tell: (decide) => inTurn(() => append(decide, false)),
    tellAnyway: (decide) => inTurn(() => append(decide, true)),
  };
}

/**
 * Appends that planning began. False when there is nothing to begin: the journal already tells the version or
 * a cancel, and the request's document lags (its process died, or is just about to write it).
 */
export async function beginPlanning(
  planner: PlannerJournal,
  { version, planning, epoch, lease, takenFrom = null }: RequestDocument,
): Promise<boolean> {
  const work = planning.work ?? "plan";
  const wanted = work === "replan" ? version + 1 : version;
  return planner.tellAnyway<boolean>((state) => {
    const isStored = work !== "answer" && [...state.plans.values()].some((plan) => plan.version >= wanted);
    const isCancelled = work !== "answer" && state.planning.isCancelled;
    // Another planner has claimed it since.
    const isTaken = state.planning.epoch >= epoch;
    if (isStored || isCancelled || isTaken) return { type: "nothing", done: false };
    const worker = lease?.owner ?? "planner";
    return {
      type: "tell",
      events: [{ type: "planning.began", worker, epoch, work, from: takenFrom }],
      following: () => [],
      done: true,
    };
  });
}
