import { DraftError, type DraftErrorCode, type DraftResult, directTools } from "@planwright/models";
import { findMoments, type Policy, type SaidMoment, type ToolDescriptor } from "@planwright/plan";
import { contextOf, type PlanningClaim } from "@planwright/store";
import { createCallMeter } from "../calls/call-meter.ts";
import { postponeIfAway } from "../calls/postpone.ts";
import { checkDraft } from "../drafts/check-draft.ts";
import { policyOf } from "../drafts/policy-of.ts";
import { askedOf } from "../prompts/asked-of.ts";
import { shownContextOf } from "../prompts/context-of.ts";
import { type AskParts, toFailure } from "./ask-drafter.ts";
import type { PlanningState } from "./planning-state.ts";

/**
 * The tools to offer in one plain tool-calling request, or null when the request must be planned. Pure. In
 * addition to the rule of {@link directTools}, a request is planned when its user answered a question, or
 * when its limits leave only one model call (calls of planners that died count). A planner that takes over
 * must choose the same path, because it finds recorded answers by their question.
 */
export function toolsForDirectPath(
  { request }: Pick<PlanningClaim, "request">,
  tools: readonly ToolDescriptor[],
): ToolDescriptor[] | null {
  const { answers, modelLimits, modelUse } = request;
  const allowed = modelLimits?.maxModelCalls ?? Number.POSITIVE_INFINITY;
  const mayAskTwice = allowed - (modelUse?.reserved.modelCalls ?? 0) > 1;
  const asked = askedOf(request);
  // A date such as "tomorrow" is not written out in the request; only planning checks its value.
  if (!mayAskTwice || answers.length > 0 || findMoments(asked, contextOf(request)).moments.some(isMoved))
    return null;
  return directTools(asked, tools);
}

/** "the weather today" means the weather now. */
const isMoved = ({ text }: SaidMoment) => text.toLowerCase() !== "today";

/**
 * After these errors the request is planned: a model that fails with offered tools may still be able to plan.
 */
const PLANNED_INSTEAD: ReadonlySet<DraftErrorCode> = new Set<DraftErrorCode>([
  "MODEL_REFUSED",
  "MODEL_CONTENT_FILTERED",
  "MODEL_ANSWER_TRUNCATED",
  "MODEL_ANSWER_UNREADABLE",
]);

/**
 * One plain tool-calling request, checked like every draft. Returns a plan, or a failure that planning would
 * also end in; nothing when the request must be planned.
 */
export async function planDirectly(
  parts: AskParts & { policy?: Policy | undefined },
  { claim, tools }: Pick<PlanningState, "claim" | "tools">,
  signal: AbortSignal,
): Promise<Partial<PlanningState>> {
  const offered = toolsForDirectPath(claim, tools) ?? [];
  const answer = await askDirectly(parts, { claim, tools: offered, signal });
  if (answer instanceof DraftError) return { failure: toFailure(answer) };
  if (!answer) return {};
  const checked = checkDraft(answer, tools, askedOf(claim.request), {
    context: shownContextOf(claim.request),
    policy: policyOf(claim.request, parts.policy),
  });
  return checked.plan ? { answer, ...checked } : {};
}

async function askDirectly(
  parts: AskParts,
  { claim, tools, signal }: { claim: PlanningClaim; tools: readonly ToolDescriptor[]; signal: AbortSignal },
): Promise<DraftResult | DraftError | null> {
  const meter = createCallMeter(parts, claim, "draft");
  const query = askedOf(claim.request);
  const context = shownContextOf(claim.request);
  try {
    return (await parts.drafter.draftDirectly?.({ query, context, tools, meter, signal })) ?? null;
  } catch (error) {
    if (!(error instanceof DraftError)) throw error;
    return PLANNED_INSTEAD.has(error.code) ? null : postponeIfAway(parts, claim, error);
  }
}
