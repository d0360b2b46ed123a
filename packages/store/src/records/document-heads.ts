/**
 * Plans, steps, model calls and events without their large values. Each head has the sizes of these values,
 * so that a reader knows the cost before it reads them.
 */
import type { FoldedPlan, FoldedRequest, JournalEntry, JournalEvent, StepRun } from "@planwright/engine";
import type { RequestId } from "@planwright/plan";
import type { Document } from "mongodb";
import type { ModelCallDocument } from "./model-call-document.ts";
import type { PlanApproval, PlanDocument, UnitResolution } from "./plan-document.ts";
import type { RequestDocument } from "./request-document.ts";

const GRAPH = ["plan", "toolPins"] as const;
const TEXTS = ["raw", "diagnostics"] as const;
const RESULTS = ["outputs"] as const;
/** Only for those who decide: readers have the states of the units. */
const UNDECIDED = "undecided";
const CALL_TEXTS = ["messages", "answer"] as const;

/** A version of a plan without its document, and without texts, graph and outputs. */
export type PlanHead = Omit<
  PlanDocument,
  (typeof GRAPH)[number] | (typeof TEXTS)[number] | (typeof RESULTS)[number] | typeof UNDECIDED
> & {
  /** Operators' decisions on calls that need approval, oldest first. */
  approvals: readonly PlanApproval[];
  /** Operators' decisions on units in doubt while the plan ran, oldest first. */
  resolutions: readonly UnitResolution[];
  /** Number of steps of the plan; 0 for a plan that could not be read. */
  steps: number;
  /** The tools of its first steps, at most 32, in plan order. */
  stepTools: readonly string[];
  /** Size of its {@link PlanGraph} in bytes of BSON. */
  graphBytes: number;
  /** Size of its {@link PlanTexts}. */
  textBytes: number;
  /** Size of its {@link PlanResults}. */
  resultBytes: number;
  /** The outputs, if they are small. Absent: they are large, or there are none yet. */
  smallOutputs?: NonNullable<PlanDocument["outputs"]>;
};
/** What {@link PLAN_HEAD} returns: a head without the fields that are in the journal. */
export type StoredPlanHead = Omit<PlanHead, "approvals" | "resolutions">;

/** A request with its current plan; null until it has been made. */
export interface RequestWithPlan {
  request: RequestDocument;
  plan: PlanHead | null;
}

/** The fields of one version of a request's plan that filters use. */
export interface VersionHead {
  requestId: RequestId;
  /** Names of the tools that it uses, also in lists. */
  tools: readonly string[];
  /** Code with which it failed; null when it did not. */
  errorCode: string | null;
  /** What the version needs from a person. */
  needs: readonly ("approval" | "doubt" | "sign-in")[];
}

/** The graph of a plan. */
export type PlanGraph = Pick<PlanDocument, "_id" | (typeof GRAPH)[number]>;
/** The text that was submitted or that a model answered, and its diagnostics. */
export type PlanTexts = Pick<PlanDocument, "_id" | (typeof TEXTS)[number]>;
/** The outputs of the plan, if they are in its document. */
export type PlanResults = Pick<PlanDocument, "_id" | (typeof RESULTS)[number]>;

/** A call of a chat model without the prompt and the answer. */
export type ModelCallHead = Omit<ModelCallDocument, (typeof CALL_TEXTS)[number]> & {
  /** Size of its {@link ModelCallTexts} in bytes of BSON. */
  textBytes: number;
};
/** The prompt and the answer of a model call. */
export type ModelCallTexts = Pick<ModelCallDocument, "_id" | (typeof CALL_TEXTS)[number]>;

/** Lists of events that may be long. */
export const EVENT_LISTS = ["units", "carried", "settled", "unanswered", "repeats", "warnings"] as const;

/** Maximum number of elements of each of these lists in an event that is read. */
export const MAX_LISTED = 100;

/** One event of a request's journal, with its position and author. */
export interface EventHead extends Pick<JournalEntry, "at" | "by" | "planId" | "seq"> {
  requestId: RequestId;
  /** Position in its entry, from 0. */
  position: number;
  /** Without outputs, arguments, and data of errors; its lists cut to {@link MAX_LISTED}. */
  event: JournalEvent;
  /** Lengths of the uncut lists. Absent: the event has no such list. */
  lengths: { [list in (typeof EVENT_LISTS)[number]]?: number };
}

/** The folded state of a request at an entry of its journal. */
export interface RequestState extends Pick<FoldedRequest, "seq" | "at" | "owner" | "epoch"> {
  /** The version that was the current one; null before the first version. Without outputs. */
  plan: FoldedPlan | null;
  /** Steps and items of that version, in plan order, without their large values. */
  steps: StepRun[];
}

/** Outputs up to this size are part of the head, in bytes of BSON. */
const SMALL_OUTPUTS_BYTES = 1_024;

/** Most tools in a head: enough to name the request. */
const MAX_HEAD_TOOLS = 32;

/** Stages that make {@link StoredPlanHead}s; `UnitReads.withDecisions` adds the rest. */
export const PLAN_HEAD: readonly Document[] = [
  {
    $set: {
      smallOutputs: {
        $cond: [
          {
            $and: [
              { $ne: [{ $ifNull: ["$outputs", null] }, null] },
              { $lte: [sizeOf(RESULTS), SMALL_OUTPUTS_BYTES] },
            ],
          },
          "$outputs",
          "$$REMOVE",
        ],
      },
      steps: { $size: { $ifNull: ["$plan.steps", []] } },
      stepTools: {
        $map: {
          input: { $slice: [{ $ifNull: ["$plan.steps", []] }, MAX_HEAD_TOOLS] },
          in: { $ifNull: ["$$this.tool", "$$this.forEach.do.tool"] },
        },
      },
      graphBytes: sizeOf(GRAPH),
      textBytes: sizeOf(TEXTS),
      resultBytes: sizeOf(RESULTS),
    },
  },
  { $unset: [...GRAPH, ...TEXTS, ...RESULTS, UNDECIDED] },
];

/** Stages that make heads of model calls. */
export const MODEL_CALL_HEAD: readonly Document[] = [
  { $set: { textBytes: sizeOf(CALL_TEXTS) } },
  { $unset: [...CALL_TEXTS] },
];

/** Projections of the parts, by the name of the part. */
export const PARTS = {
  planGraph: projectionOf(GRAPH),
  planTexts: projectionOf(TEXTS),
  planResults: projectionOf(RESULTS),
  modelCallTexts: projectionOf(CALL_TEXTS),
} as const;

/** Which values are wanted. */
export interface WantedValues {
  /** Arguments, and the data that tools added to errors. */
  body?: boolean | undefined;
  output?: boolean | undefined;
}

function sizeOf(fields: readonly string[]): Document {
  return { $bsonSize: Object.fromEntries(fields.map((field) => [field, `$${field}`])) };
}

function projectionOf(fields: readonly string[]): Document {
  return Object.fromEntries(fields.map((field) => [field, 1]));
}
