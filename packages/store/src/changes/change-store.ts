import type { Diagnostic, PlanId, RequestId } from "@planwright/plan";
import type { Idempotency } from "../acceptance/acceptance-store.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import type { GivenAnswer, ReplanOptions, RequestDocument } from "../records/request-document.ts";
import type { ArgumentChange, ChangeRefusal } from "../versions/change-arguments.ts";
import type { NewVersion } from "../versions/new-version.ts";

/** The key was used before: nothing was changed. */
export interface Repeated {
  type: "repeated";
  /** The request that the key changed, as it is now. */
  request: RequestDocument;
}

/** Options of all changes that make another version. */
export interface VersionOptions {
  /**
   * The version that the caller has read, from 1. Nothing is changed when another one is current. Default:
   * any.
   */
  fromVersion?: number | undefined;
  /**
   * A change that is sent again under its key changes nothing. Keys of different operations, and of
   * submissions, are separate.
   */
  idempotency?: Idempotency | undefined;
}

/** Options of changes that may call steps again. */
export interface RepeatOptions {
  /**
   * Ids of steps that may be called again although a failed call of them acted or may have acted. Default:
   * none.
   */
  acceptRepeat?: readonly string[] | undefined;
}

/**
 * Keys of units that would be called again although a failed call of them acted or may have acted, and whose
 * steps the caller did not name in `acceptRepeat`.
 */
export interface RepeatNotAccepted {
  type: "repeat not accepted";
  keys: string[];
}

/** Result of {@link ChangeStore.rerunPlan}. */
export type RerunAnswer =
  | { type: "rerun"; request: RequestDocument; plan: PlanDocument }
  /** A sentence whose planning had failed is PLANNING again: a planner continues. */
  | { type: "planning"; request: RequestDocument }
  /** The key has already made a version. */
  | Repeated
  /** The current version is not the one that the caller has read. */
  | { type: "other version"; request: RequestDocument }
  /** The current plan has not ended, or was never started. */
  | { type: "not ended"; plan: PlanDocument }
  /** Keys of units that would run again although it is unknown whether they acted. */
  | { type: "in doubt"; keys: string[] }
  | RepeatNotAccepted
  /** Everything completed, and no step was named. */
  | { type: "nothing failed" }
  | { type: "unknown step"; stepId: string }
  /** Other arguments were given for a step that has completed, or of which a call acted or may have acted. */
  | Exclude<ChangeRefusal, { type: "unknown step" }>
  /** With these arguments the plan could not run. Nothing is stored. */
  | { type: "invalid arguments"; plan: PlanDocument; diagnostics: Diagnostic[] }
  /** The current plan can never run. */
  | { type: "invalid"; request: RequestDocument; plan: PlanDocument }
  /** Planning has not ended, or ended without a plan. */
  | { type: "no plan"; request: RequestDocument }
  | { type: "unknown" };

/** A plan that replaced another one. */
export interface AmendedPlan {
  type: "amended";
  request: RequestDocument;
  plan: PlanDocument;
  /** Ids of steps that completed and are carried over. They are never called again. */
  carried: string[];
  /**
   * Ids of completed steps with side effects that are called again, because they or their inputs have
   * changed.
   */
  repeated: string[];
  /** Ids of completed steps with side effects that are not called again. */
  notRepeated: string[];
}

/** Result of {@link ChangeStore.amendPlan}. */
export type AmendAnswer =
  | AmendedPlan
  /** The key has already made a version. */
  | Repeated
  /** The current version is not the one that the caller has read. */
  | { type: "other version"; request: RequestDocument }
  /** The current plan was started and has not ended. */
  | { type: "not ended"; plan: PlanDocument }
  /** Keys of units with unknown effect: another plan might repeat that effect. */
  | { type: "in doubt"; keys: string[] }
  /**
   * Keys of units with a call that acted, or may have acted without an answer. With other arguments a second
   * call would act too.
   */
  | { type: "may have acted"; keys: string[] }
  | RepeatNotAccepted
  /** Planning has not ended, or ended without a plan. */
  | { type: "no plan"; request: RequestDocument }
  | { type: "unknown" };

/** Result of {@link ChangeStore.requestReplan}. */
export type ReplanAnswer =
  /** The request is PLANNING: a planner continues. */
  | { type: "replanning"; request: RequestDocument }
  /** The key has already asked for a replan. */
  | Repeated
  /** The current version is not the one that the caller has read. */
  | { type: "other version"; request: RequestDocument }
  /** The current plan has not ended, or was never started. */
  | { type: "not ended"; plan: PlanDocument }
  /** Keys of units with unknown effect: a new plan might repeat that effect. */
  | { type: "in doubt"; keys: string[] }
  /** Every step completed. */
  | { type: "nothing failed" }
  /** The request has had the maximum number of replans. */
  | { type: "too many"; made: number }
  /** The current plan can never run. */
  | { type: "invalid"; request: RequestDocument; plan: PlanDocument }
  /** Planning has not ended, or ended without a plan. */
  | { type: "no plan"; request: RequestDocument }
  | { type: "unknown" };

/** Starts plans, makes other versions of them, and answers the questions of planners. */
export interface ChangeStore {
  /**
   * READY -> QUEUED (the request: EXECUTING). Any other status is left as it is. Returns the plan, or null
   * when unknown.
   */
  queuePlan(
    tenant: string,
    planId: PlanId,
    requestId: RequestId,
    /** Who asks, for the journal. Default "api". */
    by?: string,
  ): Promise<PlanDocument | null>;
  /**
   * Makes a new version of a plan that has ended, under its request. Steps that did not complete run again;
   * with `from` also that step and all steps that depend on it. Every other step is carried over with its
   * output and is never called again. Of several simultaneous reruns one makes a version. Steps that did not
   * complete may get other arguments, if none of their calls can have acted. A sentence whose planning failed
   * is planned again instead, with the answers of its user: nothing of it was executed.
   * @throws {IdempotencyKeyReusedError} when the key was used for something else
   */
  rerunPlan(
    tenant: string,
    requestId: RequestId,
    options: VersionOptions &
      RepeatOptions & {
        from: string | null;
        autoExecute: boolean;
        /** Who asks, for the journal. Default "api". */
        by?: string | undefined;
        changes?: readonly ArgumentChange[] | undefined;
        /** Only returns the answer; nothing is stored. Default false. */
        dryRun?: boolean | undefined;
      },
  ): Promise<RerunAnswer>;
  /**
   * Replaces a plan that has ended, or that was not started (it is SUPERSEDED), by another one that the
   * caller has checked. Steps that are identical in both and completed are carried over; all others run. Of
   * several simultaneous amendments one makes a version.
   * @throws {IdempotencyKeyReusedError} when the key was used for something else
   */
  amendPlan(
    tenant: string,
    requestId: RequestId,
    amended: VersionOptions &
      RepeatOptions &
      Omit<NewVersion, "origin"> & { autoExecute: boolean; by?: string | undefined },
  ): Promise<AmendAnswer>;
  /**
   * The request, if an amendment with this key has made a version; otherwise undefined. Called before a plan
   * is checked: an amendment that is in the journal is not checked again. @throws {IdempotencyKeyReusedError}
   * when the key was used for something else
   */
  findAmended(tenant: string, requestId: RequestId, idempotency: Idempotency): Promise<Repeated | undefined>;
  /**
   * Gives a request whose plan has ended, but is not COMPLETED, to a planner, which makes another version
   * from the results of this one. Of several simultaneous replans and reruns one is accepted.
   * @throws {IdempotencyKeyReusedError} when the key was used for something else
   */
  requestReplan(
    tenant: string,
    requestId: RequestId,
    options: ReplanOptions &
      VersionOptions & { /** Who asks, for the journal. Default "api". */ by?: string | undefined },
  ): Promise<ReplanAnswer>;
  /**
   * Ends planning of a first plan or another version, whether it waits or runs. The request is CANCELLED, no
   * plan is made, and the planner that holds it has lost its lease. Null when the request is not being
   * planned.
   * @param by - who asks, for the journal. Default "api"
   */
  cancelPlanning(tenant: string, requestId: RequestId, by?: string): Promise<RequestDocument | null>;
  /**
   * Records answers to open questions of a request that is NEEDS_INPUT. Planning continues when no question
   * is open any more, or at once when the draft is discarded. Null, and nothing is recorded, when one of the
   * questions is no longer open.
   */
  answerQuestions(
    tenant: string,
    requestId: RequestId,
    given: {
      answers: readonly Omit<GivenAnswer, "at">[];
      discardsDraft: boolean;
      /** Who answers, for the journal. Default "api". */
      by?: string | undefined;
    },
  ): Promise<RequestDocument | null>;
}
