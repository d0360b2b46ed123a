import { DraftError, type DraftErrorCode, type DraftResult, directTools } from "@planwright/models";
import { type Policy, type SaidMoment, saidMoments, type ToolDescriptor } from "@planwright/plan";
import { contextOf, type PlanningClaim } from "@planwright/store";
import { createCallMeter } from "../calls/call-meter.ts";
import { checkDraft } from "../drafts/check-draft.ts";
import { policyOf } from "../drafts/policy-of.ts";
import { askedOf } from "../prompts/asked-of.ts";
import { shownContextOf } from "../prompts/context-of.ts";
import { type AskParts, toFailure } from "./ask-drafter.ts";
import type { PlanningState } from "./planning-state.ts";

/**
 * The tools to offer for one plain tool-calling request, or null when the request is to be planned at once. Pure. Beside the rule of
 * {@link directTools}: a request whose user was asked something is planned, and so is one that may cost one call only, the calls of
 * planners that died taken off. The planner that goes on for such a planner takes the same path, on which answers are recorded.
 */
export function toolsForDirectPath(
  { request }: Pick<PlanningClaim, "request">,
  tools: readonly ToolDescriptor[],
): ToolDescriptor[] | null {
  const { answers, modelLimits, modelUse } = request;
  const allowed = modelLimits?.maxModelCalls ?? Number.POSITIVE_INFINITY;
  const mayAskTwice = allowed - (modelUse?.reserved.modelCalls ?? 0) > 1;
  const asked = askedOf(request);
  // What words such as "tomorrow" mean stands nowhere in the request, and is checked with a plan.
  if (!mayAskTwice || answers.length > 0 || saidMoments(asked, contextOf(request)).moments.some(isMoved))
    return null;
  return directTools(asked, tools);
}

/** "the weather today" is the weather. */
const isMoved = ({ text }: SaidMoment) => text.toLowerCase() !== "today";

/** What one model does with an offer of tools says nothing of what it does when it is asked for a plan. */
const PLANNED_ALL_THE_SAME: ReadonlySet<DraftErrorCode> = new Set<DraftErrorCode>([
  "MODEL_REFUSED",
  "MODEL_CONTENT_FILTERED",
  "MODEL_ANSWER_TRUNCATED",
  "MODEL_ANSWER_UNREADABLE",
]);

/**
 * One plain tool-calling request, checked as every draft is. Gives a plan, or a failure that planning would meet likewise; nothing when
 * the request has to be planned.
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
    return PLANNED_ALL_THE_SAME.has(error.code) ? null : error;
  }
}
