/**
 * Plans, steps, model calls and events without what may be large of them. Each head tells how large that is,
 * so that a reader knows what reading it takes before anything of it is read.
 */
import type { FoldedPlan, FoldedRequest, JournalEntry, JournalEvent } from "@planwright/engine";
import type { PlanId, RequestId } from "@planwright/plan";
import type { Document } from "mongodb";
import type { ModelCallDocument } from "./model-call-document.ts";
import type { PlanApproval, PlanDocument, UnitResolution } from "./plan-document.ts";
import type { StepDocument } from "./step-document.ts";

const GRAPH = ["plan", "toolPins"] as const;
const TEXTS = ["raw", "diagnostics"] as const;
const RESULTS = ["outputs"] as const;
type Body = "arguments" | "argumentsPreview" | "attempts";
const WORDS = ["messages", "answer"] as const;

/** A version of a plan without its document, and without texts, graph and outputs. */
export type PlanHead = Omit<
  PlanDocument,
  (typeof GRAPH)[number] | (typeof TEXTS)[number] | (typeof RESULTS)[number]
> & {
  /** What operators said of calls that need approval, oldest first. */
  approvals: readonly PlanApproval[];
  /** What operators said of units in doubt while the plan ran, oldest first. */
  resolutions: readonly UnitResolution[];
  /** Steps of the plan; 0 for one that could not be read. */
  steps: number;
  /** Size of its {@link PlanGraph}, as MongoDB stores it. */
  graphBytes: number;
  /** Of its {@link PlanTexts}. */
  textBytes: number;
  /** Of its {@link PlanResults}. */
  resultBytes: number;
  /**
   * The outputs, where they are small: most readers of a plan that has ended want them. Absent: they are
   * large, or there are none yet.
   */
  smallOutputs?: NonNullable<PlanDocument["outputs"]>;
};
/** What filters ask of one version of a request's plan. */
export interface VersionFacts {
  requestId: RequestId;
  /** Names of the tools that it uses, those of lists among them. */
  tools: readonly string[];
  /** Code with which it failed; null when it did not. */
  errorCode: string | null;
  /** What people can do for it. */
  needs: readonly ("approval" | "doubt")[];
}

/** The plan itself. */
export type PlanGraph = Pick<PlanDocument, "_id" | (typeof GRAPH)[number]>;
/** What was submitted or answered, and what was found about it. */
export type PlanTexts = Pick<PlanDocument, "_id" | (typeof TEXTS)[number]>;
/** The outputs of the plan, as far as its document holds them. */
export type PlanResults = Pick<PlanDocument, "_id" | (typeof RESULTS)[number]>;

/** A step or item without arguments, attempts and output; its error without what the tool added. */
export type StepHead = Omit<StepDocument, Body | "output" | "outputText"> & {
  /** How many attempts there are. */
  attemptCount: number;
  /** Size of its {@link StepBody}, roughly. */
  bodyBytes: number;
  /** Size of the output; that of an output that is stored separately is in `outputRef`. */
  outputBytes: number;
};
/** Arguments, attempts, and the error with what its tool added. */
export type StepBody = Pick<StepDocument, "_id" | "error" | Body>;
/** The output, unless it is stored separately. */
export type StepOutput = Pick<StepDocument, "_id" | "output">;

/** A call of a chat model without what was asked and answered. */
export type ModelCallHead = Omit<ModelCallDocument, (typeof WORDS)[number]> & {
  /** Size of its {@link ModelCallTexts}, as MongoDB stores it. */
  wordBytes: number;
};
/** What was asked and answered. */
export type ModelCallTexts = Pick<ModelCallDocument, "_id" | (typeof WORDS)[number]>;

/** Lists of events that may be long. */
export const EVENT_LISTS = ["units", "carried", "settled", "unanswered", "warnings"] as const;

/** Of each of them an event is read with so many, at most. */
export const MAX_LISTED = 100;

/** One event of a request's journal, where it stands, and who told it. */
export interface EventHead extends Pick<JournalEntry, "at" | "by" | "planId" | "seq"> {
  requestId: RequestId;
  /** In its entry, from 0. */
  position: number;
  /** Without outputs, arguments, and data of errors; its lists cut to {@link MAX_LISTED}. */
  event: JournalEvent;
  /** How long those lists are uncut. Absent: the event has no such list. */
  lengths: { [list in (typeof EVENT_LISTS)[number]]?: number };
}

/** A step or item as it was, with its tries; its errors without what tools added. */
export type StepAt = StepHead & Pick<StepDocument, "attempts">;

/** What the journal of a request told at one of its entries. */
export interface RequestState extends Pick<FoldedRequest, "seq" | "at" | "owner"> {
  /** The version that was the current one; null before one is told. Without outputs. */
  plan: FoldedPlan | null;
  /** Of that version, in plan order. */
  steps: StepAt[];
}

/** Reads of journals up to an entry, bound to a tenant. */
export interface StateReads {
  /**
   * What the journal told at this entry, or at the last one where there are fewer; 0: before the first. Null
   * for an unknown request.
   * @throws {JournalInvalidError}
   */
  readStateAt(tenant: string, requestId: RequestId, seq: number): Promise<RequestState | null>;
  /**
   * The last entry of each journal; 0 where there is none, and for unknown requests. One read, in the order
   * of the ids.
   */
  readLastSeqs(tenant: string, requestIds: readonly RequestId[]): Promise<number[]>;
}

/** Outputs up to this size go with the head, in bytes as MongoDB stores them. */
const SMALL_OUTPUTS_BYTES = 1_024;

/** Stages that make heads of plans. */
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
      graphBytes: sizeOf(GRAPH),
      textBytes: sizeOf(TEXTS),
      resultBytes: sizeOf(RESULTS),
    },
  },
  { $unset: [...GRAPH, ...TEXTS, ...RESULTS] },
];

/** Stages that make heads of model calls. */
export const MODEL_CALL_HEAD: readonly Document[] = [
  { $set: { wordBytes: sizeOf(WORDS) } },
  { $unset: [...WORDS] },
];

/** What a reader of parts reads, by the name of the part. */
export const PARTS = {
  planGraph: projectionOf(GRAPH),
  planTexts: projectionOf(TEXTS),
  planResults: projectionOf(RESULTS),
  modelCallTexts: projectionOf(WORDS),
} as const;

/**
 * Reads of heads and of their parts, bound to a tenant. What is not there, or another tenant's, is left out.
 */
export interface HeadReads {
  /**
   * Like `getPlan`: asked by many in one turn, it is one read. In the order of the ids; null for unknown
   * ones.
   */
  getPlanHeads(tenant: string, planIds: readonly PlanId[]): Promise<(PlanHead | null)[]>;
  /** All versions of the plans of many requests in one read, those of each newest first. */
  listPlanHeadsOf(tenant: string, requestIds: readonly PlanHead["requestId"][]): Promise<PlanHead[]>;
  readPlanGraphs(tenant: string, planIds: readonly PlanId[]): Promise<PlanGraph[]>;
  readPlanTexts(tenant: string, planIds: readonly PlanId[]): Promise<PlanTexts[]>;
  readPlanResults(tenant: string, planIds: readonly PlanId[]): Promise<PlanResults[]>;
  /** Steps and items in plan order, the steps of several plans in one read. */
  listStepHeads(tenant: string, planIds: readonly PlanId[]): Promise<StepHead[]>;
  /** One step or item by its key; null for an unknown one. */
  getStepHead(tenant: string, planId: PlanId, key: string): Promise<StepHead | null>;
  /** @param ids - `_id` of steps and items, as in all reads of parts */
  readStepBodies(tenant: string, ids: readonly string[]): Promise<StepBody[]>;
  readStepOutputs(tenant: string, ids: readonly string[]): Promise<StepOutput[]>;
  /** Steps by status; items are not counted. */
  countStepStatuses(
    tenant: string,
    planIds: readonly PlanId[],
  ): Promise<{ planId: PlanId; status: StepDocument["status"]; count: number }[]>;
  /** Calls of chat models for many requests in one read, those of each oldest first. */
  listModelCallHeadsOf(
    tenant: string,
    requestIds: readonly ModelCallHead["requestId"][],
  ): Promise<ModelCallHead[]>;
  readModelCallTexts(tenant: string, ids: readonly string[]): Promise<ModelCallTexts[]>;
}

function sizeOf(fields: readonly string[]): Document {
  return { $bsonSize: Object.fromEntries(fields.map((field) => [field, `$${field}`])) };
}

function projectionOf(fields: readonly string[]): Document {
  return Object.fromEntries(fields.map((field) => [field, 1]));
}
