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
   * The version that the caller has read, from 1: nothing is changed when another one is current. Default:
   * any.
   */
  fromVersion?: number | undefined;
  /**
   * Sent again under its key a change makes nothing more. Keys of different operations, and of submissions,
   * are separate.
   */
  idempotency?: Idempotency | undefined;
}

/** Result of {@link ChangeStore.rerunPlan}. */
export type RerunAnswer =
  | { type: "rerun"; request: RequestDocument; plan: PlanDocument }
  /** The key made a version before. */
  | Repeated
  /** Another version is current than the one that the caller has read. */
  | { type: "other version"; request: RequestDocument }
  /** The current plan has not ended, or was never started. */
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
  /** Planning has not ended, or ended without a plan. */
  | { type: "no plan"; request: RequestDocument }
  | { type: "unknown" };

/** A plan that replaced another one. */
export interface AmendedPlan {
  type: "amended";
  request: RequestDocument;
  plan: PlanDocument;
  /** Ids of steps that completed and are carried over, never to be called again. */
  carried: string[];
  /**
   * Of steps with side effects that completed: those that are called again, since they or what they use has
   * changed.
   */
  repeated: string[];
  /** And those that are not. */
  notRepeated: string[];
}

/** Result of {@link ChangeStore.amendPlan}. */
export type AmendAnswer =
  | AmendedPlan
  /** The key made a version before. */
  | Repeated
  /** Another version is current than the one that the caller has read. */
  | { type: "other version"; request: RequestDocument }
  /** The current plan was started and has not ended. */
  | { type: "not over"; plan: PlanDocument }
  /** Units of unknown effect: another plan might make them happen again. */
  | { type: "in doubt"; keys: string[] }
  /**
   * Units of which a call acted, or may have, without an answer: with other arguments a second call would act
   * too.
   */
  | { type: "may have acted"; keys: string[] }
  /** Planning has not ended, or ended without a plan. */
  | { type: "no plan"; request: RequestDocument }
  | { type: "unknown" };

/** Result of {@link ChangeStore.requestReplan}. */
export type ReplanAnswer =
  /** A planner takes it from here: the request is PLANNING. */
  | { type: "replanning"; request: RequestDocument }
  /** The key asked for a replan before. */
  | Repeated
  /** Another version is current than the one that the caller has read. */
  | { type: "other version"; request: RequestDocument }
  /** The current plan has not ended, or was never started. */
  | { type: "not over"; plan: PlanDocument }
  /** Units of unknown effect: a new plan might make them happen again. */
  | { type: "in doubt"; keys: string[] }
  /** Every step completed. */
  | { type: "nothing failed" }
  /** The request has had as many as it can have. */
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
   * Makes a new version of a plan that has ended, under its request. What did not complete runs again; with
   * `from` also that step and all that depends on it. Every other step is carried over with its output and is
   * never called again. Of several reruns at once one makes a version. Steps that did not complete may get
   * other arguments, where no call of theirs can have acted.
   * @throws {IdempotencyKeyReusedError} when the key made something else
   */
  rerunPlan(
    tenant: string,
    requestId: RequestId,
    options: VersionOptions & {
      from: string | null;
      autoExecute: boolean;
      /** Who asks, for the journal. Default "api". */
      by?: string | undefined;
      changes?: readonly ArgumentChange[] | undefined;
      /** Only says what would be answered; nothing is stored. Default false. */
      dryRun?: boolean | undefined;
    },
  ): Promise<RerunAnswer>;
  /**
   * Replaces a plan that has ended, or that was not started (it is SUPERSEDED), by another one that the
   * caller has checked. Steps that are identical in both and completed are carried over; all others run. Of
   * several at once one makes a version.
   * @throws {IdempotencyKeyReusedError} when the key made something else
   */
  amendPlan(
    tenant: string,
    requestId: RequestId,
    amended: VersionOptions & Omit<NewVersion, "origin"> & { autoExecute: boolean; by?: string | undefined },
  ): Promise<AmendAnswer>;
  /**
   * The version that an amendment made under this key; undefined where there was none. To be asked before a
   * plan is checked: what is told already is not checked again. @throws {IdempotencyKeyReusedError} when the
   * key made something else
   */
  findAmended(tenant: string, requestId: RequestId, idempotency: Idempotency): Promise<Repeated | undefined>;
  /**
   * Gives a request whose plan has ended, and is not COMPLETED, to a planner, which makes another version
   * from the results of this one. Of several replans and reruns at once one is taken.
   * @throws {IdempotencyKeyReusedError} when the key made something else
   */
  requestReplan(
    tenant: string,
    requestId: RequestId,
    wish: ReplanOptions &
      VersionOptions & { /** Who asks, for the journal. Default "api". */ by?: string | undefined },
  ): Promise<ReplanAnswer>;
  /**
   * Ends planning that waits or is under way, of a first plan or another version: the request is CANCELLED,
   * no plan comes, and the planner that holds it has lost its lease. Null when the request is not being
   * planned.
   * @param by - who asks, for the journal. Default "api"
   */
  cancelPlanning(tenant: string, requestId: RequestId, by?: string): Promise<RequestDocument | null>;
  /**
   * Takes answers to open questions of a request that is NEEDS_INPUT. It is planned on once none is open any
   * more, or at once when its draft is given up. Null, and nothing is taken, when one of the questions is
   * open no more.
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
