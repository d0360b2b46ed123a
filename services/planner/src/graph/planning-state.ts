import { Annotation } from "@langchain/langgraph";
import {
  DraftError,
  type Drafter,
  type DraftInput,
  type DraftResult,
  type PriceList,
  toolsForPrompt,
} from "@planwright/models";
import type { Diagnostic, LeftOutTool, Plan, Policy, ToolDescriptor } from "@planwright/plan";
import type { OpenDraft } from "@planwright/reading";
import type {
  ModelCallBegin,
  PlanDocument,
  PlanningClaim,
  PlanningStore,
  PlanOrigin,
  PlanRecord,
  RecordedError,
} from "@planwright/store";
import {
  type CallMeterParts,
  createCallMeter,
  type PostponeParts,
  postponeIfAway,
  recordOfCall,
} from "../calls/call-meter.ts";
import { shownContextOf } from "../drafts/context-of.ts";

/** A plan that can run, with the answer that contained it. */
export interface DoubtedDraft {
  plan: Plan;
  diagnostics: Diagnostic[];
  answer: DraftResult | null;
}

/**
 * The state while one request is planned.
 * 1. `failure` and `plan` are never both set.
 * 2. `repairs` counts the repair calls made so far.
 * 3. Once either is set, only `store` runs.
 */
export const PlanningState = Annotation.Root({
  claim: Annotation<PlanningClaim>,
  tools: Annotation<ToolDescriptor[]>,
  /** Tools that servers list and that no plan can use. */
  leftOut: Annotation<LeftOutTool[]>,
  /** The latest answer. */
  answer: Annotation<DraftResult | null>,
  /** Set when the latest answer is a plan that can run. */
  plan: Annotation<Plan | null>,
  /** Diagnostics of the latest answer. */
  diagnostics: Annotation<Diagnostic[]>,
  /** Diagnostics of the previous answer; null when there was none. */
  earlierDiagnostics: Annotation<Diagnostic[] | null>,
  repairs: Annotation<number>,
  /** A valid plan, kept while the model repairs doubtful references; null when there was no doubt. */
  doubted: Annotation<DoubtedDraft | null>,
  /** True while the latest answer is a kept draft, filled with values of the user. */
  isFilled: Annotation<boolean>,
  /** The latest answer, when only values are missing that the user can give. */
  open: Annotation<OpenDraft | null>,
  /** The questions of the model; empty when it asks nothing. */
  asks: Annotation<string[]>,
  /** Why the request cannot be planned. */
  failure: Annotation<RecordedError | null>,
  /** The plan as stored. */
  stored: Annotation<PlanDocument | null>,
});
/** See {@link PlanningState}. */
export type PlanningState = typeof PlanningState.State;

/** The state at the beginning. */
export function initialState(claim: PlanningClaim): PlanningState {
  return {
    claim,
    tools: [],
    leftOut: [],
    answer: null,
    plan: null,
    diagnostics: [],
    earlierDiagnostics: null,
    repairs: 0,
    doubted: null,
    isFilled: false,
    open: null,
    asks: [],
    failure: null,
    stored: null,
  };
}

/** The state while one plan is replanned: as for a first plan, and the record of the plan that failed. */
export const ReplanningState = Annotation.Root({
  ...PlanningState.spec,
  /** Null until it is read. */
  record: Annotation<PlanRecord | null>,
});
/** See {@link ReplanningState}. */
export type ReplanningState = typeof ReplanningState.State;

/** The state at the beginning. */
export function initialReplan(claim: PlanningClaim): ReplanningState {
  return { ...initialState(claim), record: null };
}

/** Dependencies of {@link askDrafter}. */
export interface AskParts extends CallMeterParts, PostponeParts {
  store: CallMeterParts["store"] & PostponeParts["store"] & Pick<PlanningStore, "recordModelCall">;
  drafter: Drafter;
}

/** Dependencies of the nodes of both graphs, except the store. */
export interface GraphParts
  extends Pick<AskParts, "drafter" | "metrics" | "partialAnswers" | "onReuse" | "modelUnreachableMs"> {
  /** Prices of models. Default: the table of `@planwright/models`. */
  prices?: PriceList;
  /**
   * The policy of the planner: the default for requests, and no plan may loosen its `replannedEffects`.
   * Default: the default policy.
   */
  policy?: Policy | undefined;
}

/** The question, and the claim that it belongs to. */
interface Ask extends Omit<DraftInput, "meter"> {
  claim: PlanningClaim;
  purpose: ModelCallBegin["purpose"];
  /** The result can be done without, so a model that is away is not waited for. Default: false. */
  isOptional?: boolean | undefined;
}

/**
 * Returns one draft, or the error that prevented it. Every model call is metered; the work of the offline
 * drafter is recorded afterwards.
 * @throws {PostponedError} when the model is away for now
 */
async function askDrafter(
  parts: AskParts,
  { claim, purpose, isOptional = false, ...asked }: Ask,
): Promise<DraftResult | DraftError> {
  const { store, drafter } = parts;
  const isModel = drafter.kind === "model";
  const meter = isModel ? createCallMeter(parts, claim, purpose) : undefined;
  // The offline drafter reads every tool; a prompt has space for some of them. The answer is checked against
  // the complete catalogue.
  const tools = isModel ? toolsForPrompt(asked).tools : asked.tools;
  const result = await drafter.draft({ ...asked, tools, meter }).catch((error: unknown) => {
    if (error instanceof DraftError) return error;
    throw error;
  });
  if (!meter) {
    await store.recordModelCall(recordOfCall({ request: claim.request, drafter, purpose, result }));
  }
  return result instanceof DraftError && !isOptional ? postponeIfAway(parts, claim, result) : result;
}

/** Asks for a draft, or for a repair of the latest answer. */
export async function askForDraft(
  parts: AskParts,
  state: Pick<PlanningState, "claim" | "tools" | "answer" | "diagnostics" | "repairs" | "doubted">,
  asked: Pick<Ask, "purpose" | "query" | "replan" | "signal">,
): Promise<{ result: DraftResult | DraftError; repairs: number }> {
  const { claim, tools, answer, diagnostics, repairs } = state;
  const isRepair = asked.purpose === "repair";
  const result = await askDrafter(parts, {
    ...asked,
    claim,
    tools,
    context: shownContextOf(claim.request),
    // A valid plan is at hand, which the repair might only improve.
    isOptional: state.doubted !== null,
    repair: isRepair ? { previous: answer?.text ?? "", diagnostics } : undefined,
  });
  return { result, repairs: isRepair ? repairs + 1 : repairs };
}

/** The drafter that made a plan. */
export const originOf = (drafter: Drafter, answer: DraftResult | null): PlanOrigin =>
  drafter.kind === "model"
    ? { kind: "model", model: answer?.model ?? drafter.name }
    : { kind: "offline", model: null };

/** The part of a failure that users see. */
export const toFailure = ({ code, message }: DraftError) => ({ code, message });
