import type { Diagnostic } from "@planwright/plan";
import type { ChangeRefusal } from "../plans/change-arguments.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import type { RequestDocument } from "../records/request-document.ts";
import type { Idempotency } from "./acceptance.ts";
import type { createChangeStore } from "./create-change-store.ts";

/** The key was used before: nothing was changed. */
export interface Repeated {
  type: "repeated";
  /** The request that the key changed, as it is now. */
  request: RequestDocument;
}

/** Options of all changes that make another version. */
export interface VersionOptions {
  /** The version that the caller has read, from 1: nothing is changed when another one is current. Default: any. */
  fromVersion?: number | undefined;
  /** A change that is sent again under its key changes nothing. Each operation has its own keys. */
  idempotency?: Idempotency | undefined;
  /** Who asks, for the journal. Default "api". */
  by?: string | undefined;
}

/** Options of changes that may call steps again. */
export interface RepeatOptions extends VersionOptions {
  /** Start executing as soon as the version is stored. */
  autoExecute: boolean;
  /** Ids of steps that may be called again although a failed call of them acted or may have acted. Default: none. */
  acceptRepeat?: readonly string[] | undefined;
}

/** Why a change made no version, whatever the change is. */
type NotChanged =
  | Repeated
  /** The current version is not the one that the caller has read. */
  | { type: "other version"; request: RequestDocument }
  /** The current plan has not ended; a rerun and a replan also need one that was started. */
  | { type: "not ended"; plan: PlanDocument }
  /** Keys of units with unknown effect: another version might repeat that effect. */
  | { type: "in doubt"; keys: string[] }
  /** Planning has not ended, or ended without a plan. */
  | { type: "no plan"; request: RequestDocument }
  | { type: "unknown" };

/**
 * Keys of units that would be called again although a failed call of them acted or may have acted, and whose
 * steps the caller did not name in `acceptRepeat`.
 */
interface RepeatNotAccepted {
  type: "repeat not accepted";
  keys: string[];
}

/** The current plan can never run. */
interface InvalidPlan {
  type: "invalid";
  request: RequestDocument;
  plan: PlanDocument;
}

/** Result of a rerun. */
export type RerunAnswer =
  | NotChanged
  | { type: "rerun"; request: RequestDocument; plan: PlanDocument }
  /** A sentence whose planning had failed is PLANNING again: a planner continues. */
  | { type: "planning"; request: RequestDocument }
  | RepeatNotAccepted
  /** Everything completed, and no step was named. */
  | { type: "nothing failed" }
  /** Other arguments were given for a step that has completed, or of which a call acted or may have acted. */
  | ChangeRefusal
  /** With these arguments the plan could not run. Nothing is stored. */
  | { type: "invalid arguments"; plan: PlanDocument; diagnostics: Diagnostic[] }
  | InvalidPlan;

/** A plan that replaced another one. */
export interface AmendedPlan {
  type: "amended";
  request: RequestDocument;
  plan: PlanDocument;
  /** Ids of steps that completed and are carried over. They are never called again. */
  carried: string[];
  /** Ids of completed steps with side effects that are called again: they or their inputs have changed. */
  repeated: string[];
  /** Ids of completed steps with side effects that are not called again. */
  notRepeated: string[];
}

/** Result of an amendment. */
export type AmendAnswer =
  | NotChanged
  | AmendedPlan
  /** Keys of units with a call that acted, or may have acted without an answer: with other arguments it is a second effect. */
  | { type: "may have acted"; keys: string[] }
  | RepeatNotAccepted;

/** Result of a replan that is asked for. */
export type ReplanAnswer =
  | NotChanged
  /** The request is PLANNING: a planner continues. */
  | { type: "replanning"; request: RequestDocument }
  /** Every step completed. */
  | { type: "nothing failed" }
  /** The request has had the maximum number of replans. */
  | { type: "too many"; made: number }
  | InvalidPlan;

/** Starts plans, makes other versions of them, and answers the questions of planners. */
export type ChangeStore = ReturnType<typeof createChangeStore>;
