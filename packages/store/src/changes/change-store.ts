import type { Diagnostic, PlanId, RequestId } from "@planwright/plan";
import type { Idempotency } from "../acceptance/acceptance-store.ts";
import type { GivenAnswer, PlanDocument, ReplanWish, RequestDocument } from "../records/documents.ts";
import type { ArgumentChange, ChangeRefusal } from "../versions/change-arguments.ts";
import type { NewVersion } from "../versions/new-version.ts";

/** The key was used before: nothing was done now. */
export interface Repeated {
  type: "repeated";
  /** What the key stands for, as it stands now. */
  request: RequestDocument;
}

/** Beside what another version of a plan is asked for with. */
export interface VersionWish {
  /** The version that the caller has looked at, from 1: nothing is made when another one is current. Default: any. */
  fromVersion?: number | undefined;
  /** Sent again under its key a wish makes nothing more. Keys of rerun and of replan are apart, and apart from those of submissions. */
  idempotency?: Idempotency | undefined;
}

/** What became of a wish to run a plan again. */
export type RerunAnswer =
  | { type: "rerun"; request: RequestDocument; plan: PlanDocument }
  /** Its key made a version before, and now none. */
  | Repeated
  /** Another version is current than the one that the caller has looked at. */
  | { type: "other version"; request: RequestDocument }
  /** The current plan goes on, or was never started. */
  | { type: "not over"; plan: PlanDocument }
  /** Units that would run again although it is unknown whether they happened. */
  | { type: "in doubt"; keys: string[] }
  /** Everything completed, and no step was named. */
  | { type: "nothing failed" }
  | { type: "unknown step"; stepId: string }
  /** Other arguments were asked for, and the step has completed, or a call of it acted or may have. */
  | Exclude<ChangeRefusal, { type: "unknown step" }>
  /** With other arguments the plan could not run. Nothing is stored. */
  | { type: "invalid arguments"; plan: PlanDocument; diagnostics: Diagnostic[] }
  /** The current plan can never run. */
  | { type: "invalid"; request: RequestDocument; plan: PlanDocument }
  /** Planning goes on, or ended without a plan. */
  | { type: "no plan"; request: RequestDocument }
  | { type: "unknown" };

/** A plan that was put in the place of another one. */
export interface AmendedPlan {
  type: "amended";
  request: RequestDocument;
  plan: PlanDocument;
  /** Ids of steps that completed and are carried over, never to be called again. */
  carried: string[];
  /** Of steps with side effects that completed: those that are called again, since they or what they use has changed. */
  repeated: string[];
  /** And those that are not. */
  notRepeated: string[];
}

/** What became of a wish to put another plan in the place of one. */
export type AmendAnswer =
  | AmendedPlan
  /** Its key made a version before, and now none. */
  | Repeated
  /** Another version is current than the one that the caller has looked at. */
  | { type: "other version"; request: RequestDocument }
  /** The current plan was started, and goes on. */
  | { type: "not over"; plan: PlanDocument }
  /** Units of unknown effect: another plan might make them happen again. */
  | { type: "in doubt"; keys: string[] }
  /** Units of which a call acted, or may have, and no answer says so: in other words it would be another call beside that one. */
  | { type: "may have acted"; keys: string[] }
  /** Planning goes on, or ended without a plan. */
  | { type: "no plan"; request: RequestDocument }
  | { type: "unknown" };

/** What became of a wish to make a plan anew. */
export type ReplanAnswer =
  /** A planner takes it from here: the request is PLANNING. */
  | { type: "replanning"; request: RequestDocument }
  /** Its key was taken before, and leads to nothing now. */
  | Repeated
  /** Another version is current than the one that the caller has looked at. */
  | { type: "other version"; request: RequestDocument }
  /** The current plan goes on, or was never started. */
  | { type: "not over"; plan: PlanDocument }
  /** Units of unknown effect: a new plan might make them happen again. */
  | { type: "in doubt"; keys: string[] }
  /** Every step completed. */
  | { type: "nothing failed" }
  /** The request has had as many as it can have. */
  | { type: "too many"; made: number }
  /** The current plan can never run. */
  | { type: "invalid"; request: RequestDocument; plan: PlanDocument }
  /** Planning goes on, or ended without a plan. */
  | { type: "no plan"; request: RequestDocument }
  | { type: "unknown" };

/** Starts plans, makes other versions of them, and answers the questions of planners. */
export interface ChangeStore {
  /** READY -> QUEUED (the request: EXECUTING). Any other status is left as it is. Returns the plan, or null when unknown. */
  queuePlan(
    tenant: string,
    planId: PlanId,
    requestId: RequestId,
    /** Who asks, for the journal. Default "api". */
    by?: string,
  ): Promise<PlanDocument | null>;
  /**
   * Makes a new version of a plan that is over, under its request. What did not complete runs again; with `from` also that step
   * and all that depends on it. Every other step is carried over with its output and is never called again. Of several reruns
   * at once one makes a version. Steps that did not complete may get other arguments, where no call of theirs can have acted.
   * @throws {IdempotencyKeyReusedError} when the key made something else
   */
  rerunPlan(
    tenant: string,
    requestId: RequestId,
    options: VersionWish & {
      from: string | null;
      autoExecute: boolean;
      /** Who asks, for the journal. Default "api". */
      by?: string | undefined;
      changes?: readonly ArgumentChange[] | undefined;
    },
  ): Promise<RerunAnswer>;
  /**
   * Puts another plan, checked by the caller, in the place of one that is over, or was not started: that one is SUPERSEDED. Steps that stand in both, word
   * for word, and that completed are carried over; all others begin anew. Of several at once one makes a version.
   * @throws {IdempotencyKeyReusedError} when the key made something else
   */
  amendPlan(
    tenant: string,
    requestId: RequestId,
    amended: VersionWish & Omit<NewVersion, "origin"> & { autoExecute: boolean; by?: string | undefined },
  ): Promise<AmendAnswer>;
  /**
   * The version that an amendment made under this key; undefined where there was none. To be asked before a plan is checked: what is told already is not
   * checked again. @throws {IdempotencyKeyReusedError} when the key made something else
   */
  findAmended(tenant: string, requestId: RequestId, idempotency: Idempotency): Promise<Repeated | undefined>;
  /**
   * Leaves a request whose plan is over, and not COMPLETED, to a planner, which makes another version of the plan from what became
   * of this one. Of several replans and reruns at once one is taken.
   * @throws {IdempotencyKeyReusedError} when the key made something else
   */
  requestReplan(
    tenant: string,
    requestId: RequestId,
    wish: ReplanWish &
      VersionWish & { /** Who asks, for the journal. Default "api". */ by?: string | undefined },
  ): Promise<ReplanAnswer>;
  /**
   * Ends planning that waits or is under way, of a first plan or another version: the request is CANCELLED, no plan comes, and the
   * planner that holds it has lost its lease. Null when the request is not being planned.
   * @param by - who asks, for the journal. Default "api"
   */
  cancelPlanning(tenant: string, requestId: RequestId, by?: string): Promise<RequestDocument | null>;
  /**
   * Takes answers to open questions of a request that is NEEDS_INPUT. It is planned on once none is open any more, or at once when its draft
   * is given up. Null, and nothing is taken, when one of the questions is open no more.
   */
  answerQuestions(
    tenant: string,
    requestId: RequestId,
    given: {
      answers: readonly Omit<GivenAnswer, "at">[];
      givesUpDraft: boolean;
      /** Who answers, for the journal. Default "api". */
      by?: string | undefined;
    },
  ): Promise<RequestDocument | null>;
}
