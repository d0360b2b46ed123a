/**
 * Claims of planners, and the journal of a request as its planner writes it (docs/architecture.md, Journal).
 *
 * 1. A claim first appends `planning.began`. From then on appends of earlier planners are refused, and the
 *    state that the claim has read is final.
 * 2. One entry is in flight at a time. It is decided again when another entry was appended first.
 * 3. Planning that another planner has claimed, that was cancelled or that has ended appends only the ends of
 *    its model calls, because their costs are real: as one who does not own the request.
 */
import { type FoldedRequest, fold, type JournalEvent } from "@planwright/engine";
import type { PlanId } from "@planwright/plan";
import type { StoreDependencies } from "../journal/dependencies.ts";
import type { NewEntry } from "../journal/journal.ts";
import { appendAsOwner, type FollowingOf, type OwnerEntries } from "../journal/transact.ts";
import { LeaseLostError } from "../records/errors.ts";
import type { EndedModelCall } from "../records/model-call-document.ts";
import type { RequestDocument } from "../records/request-document.ts";

/** A claim on a request to plan; `request.planning.work` is the work. A stale epoch matches nothing. */
export interface PlanningClaim {
  request: RequestDocument;
  epoch: number;
  /**
   * Ended calls of earlier claims of the same work (the same first plan, replan or answer). Calls of the
   * latest claim come first; calls of one claim are in order. Only calls with a complete answer. A planner
   * that uses an answer removes its call from the list.
   */
  earlierCalls: EndedModelCall[];
}

/** The next entry of a planner, if there is one, with the writes to documents that follow it. */
type PlannerTurn<Done> = {
  /** Absent: no entry is appended. */
  events?: JournalEvent[];
  /** The version that the entry is about. Default: the version of the request when it was claimed. */
  planId?: PlanId;
  following?: FollowingOf;
  /**
   * The entry stores a version, which no other planner could make again from it: the version and the entry are
   * stored in one transaction. Default false.
   */
  storesVersion?: boolean;
} & (undefined extends Done ? Partial<Result<Done>> : Result<Done>);

interface Result<Done> {
  /** The result, once the entry is appended. Only undefined may be absent. */
  done: Done;
}

/** Decides the next entry from the state after all earlier ones. */
type Decide<Done> = (state: FoldedRequest) => PlannerTurn<Done>;

/** Appends entries under claims. They are kept here, because holders of claims must not append directly. */
export type PlannerClaims = ReturnType<typeof createPlannerClaims>;

interface PlannerEntries extends OwnerEntries {
  /** The last entry that was given, whether it is in flight or not. */
  last: Promise<unknown>;
}

/** Claims of planners over a journal. */
export function createPlannerClaims({ journal, transact }: StoreDependencies) {
  const entriesOf = new WeakMap<PlanningClaim, PlannerEntries>();

  async function append<Done>(
    { request, epoch }: PlanningClaim,
    entries: PlannerEntries,
    { decide, lease }: { decide: Decide<Done>; lease: "held" | "claimed" | "not needed" },
  ): Promise<Done> {
    const { state, lost } = entries;
    const by = { kind: "planner" as const, id: request.lease?.owner ?? "planner" };
    let decided: PlannerTurn<Done> | undefined;
    await appendAsOwner(entries, () => {
      const isHeld = state.planning.planner?.epoch === epoch;
      if (state.isRemoved || (lease === "held" && !isHeld)) throw lost();
      decided = decide(state);
      const { events, planId = request.planId, following, storesVersion } = decided;
      if (!events) return undefined;
      const isCold = storesVersion || (lease === "not needed" && !isHeld);
      return { planId, by, events, following, ...(isCold && { transact }) };
    });
    if (!decided) throw lost();
    return decided.done as Done; // absent: undefined is one of its values
  }

  function inTurn<Done>(claim: PlanningClaim, next: Parameters<typeof append<Done>>[2]): Promise<Done> {
    const entries = entriesOf.get(claim);
    if (!entries) throw new TypeError(`Request ${claim.request._id} was not claimed from this store`);
    const appended = entries.last.then(() => append(claim, entries, next));
    // The caller gets the error.
    entries.last = appended.catch(() => undefined);
    return appended;
  }

  return {
    /**
     * Begins planning under the lease of this document. Null when there is nothing to begin: the journal has
     * the version or a cancel already.
     * @param state - the state before the claim; it is changed
     */
    async begin(request: RequestDocument, state: FoldedRequest): Promise<PlanningClaim | null> {
      const { _id: requestId, tenant, epoch } = request;
      const claim: PlanningClaim = { request, epoch, earlierCalls: [] };
      entriesOf.set(claim, {
        journal,
        requestId,
        tenant,
        state,
        requireValid: (entry: NewEntry) => void fold(state, [{ ...entry, at: new Date(0), writeId: "" }]),
        lost: () => new LeaseLostError({ id: requestId, epoch }),
        last: Promise.resolve(),
      });
      const decide = (now: FoldedRequest) => beginning(request, now);
      return (await inTurn(claim, { decide, lease: "claimed" })) ? claim : null;
    },
    /** Durable when it returns. @throws {LeaseLostError | StoreUnavailableError} */
    append: <Done>(claim: PlanningClaim, decide: Decide<Done>): Promise<Done> =>
      inTurn(claim, { decide, lease: "held" }),
    /** The same for facts that do not depend on the lease. @throws {LeaseLostError | StoreUnavailableError} */
    appendWithoutLease: <Done>(claim: PlanningClaim, decide: Decide<Done>): Promise<Done> =>
      inTurn(claim, { decide, lease: "not needed" }),
  };
}

/** The entry `planning.began`, unless there is nothing to begin. Pure. */
function beginning(
  { version, planning, epoch, lease, takenFrom = null }: RequestDocument,
  state: FoldedRequest,
): PlannerTurn<boolean> {
  const work = planning.work ?? "plan";
  const wanted = work === "replan" ? version + 1 : version;
  const isStored = work !== "answer" && [...state.plans.values()].some((plan) => plan.version >= wanted);
  const isCancelled = work !== "answer" && state.planning.isCancelled;
  // Another planner has claimed the request since.
  const isTaken = state.planning.epoch >= epoch;
  if (isStored || isCancelled || isTaken) return { done: false };
  const worker = lease?.owner ?? "planner";
  return {
    events: [{ type: "planning.began", worker, epoch, work, from: takenFrom }],
    done: true,
  };
}
