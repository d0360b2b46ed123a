import {
  DraftError,
  type Drafter,
  type DraftInput,
  type DraftResult,
  type PriceList,
  toolsForPrompt,
} from "@planwright/models";
import type { Policy } from "@planwright/plan";
import type { ModelCallBegin, PlanningClaim, PlanningStore, PlanOrigin } from "@planwright/store";
import { type CallMeterParts, createCallMeter } from "../calls/call-meter.ts";
import { type PostponeParts, postponeIfAway } from "../calls/postpone.ts";
import { recordOfCall } from "../calls/record-of-call.ts";
import { shownContextOf } from "../prompts/context-of.ts";
import type { PlanningState } from "./planning-state.ts";

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
export interface Ask extends Omit<DraftInput, "meter"> {
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
export async function askDrafter(
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
