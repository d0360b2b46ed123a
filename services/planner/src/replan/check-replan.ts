import type { DraftResult } from "@planwright/models";
import {
  type Diagnostic,
  type LeftOutTool,
  type PlanningContext,
  type Policy,
  REDACTED,
  type Step,
  stringifyExactJson,
  type ToolDescriptor,
} from "@planwright/plan";
import { type CheckedDraft, checkDraft } from "../drafts/check-draft.ts";
import { stricterEffects } from "../drafts/policy-of.ts";
import { composeReplan } from "./compose-replan.ts";
import type { PastPlan } from "./past-plan.ts";
import { planDigest } from "./plan-digest.ts";
import { repeatedEffects } from "./repeated-effects.ts";
import { restoreSecrets } from "./restore-secrets.ts";
import { effectsOf } from "./tool-effects.ts";

/** Most characters of outputs that are searched for the values of an answer. */
const MAX_SOURCES = 1_000_000;

/** Options of {@link checkReplan}. */
export interface CheckReplanOptions {
  tools: readonly ToolDescriptor[];
  /** Tools that servers list and that no plan can use. Default: none. */
  leftOut?: readonly LeftOutTool[] | undefined;
  /** The text of the user: the request and the note. */
  said: string;
  context?: PlanningContext;
  /**
   * The operator's limit on side effects that were not planned before; the policy of the plan cannot loosen
   * it. Default: approve.
   */
  replannedEffects?: Policy["replannedEffects"] | undefined;
}

/** Reads an answer as the plan that replaces a failed one, and validates it. Pure. */
export function checkReplan(
  draft: Pick<DraftResult, "text" | "finishReason">,
  past: PastPlan,
  { tools, leftOut, said, context, replannedEffects = "approve" }: CheckReplanOptions,
): CheckedDraft {
  const { policy, limits } = past.plan;
  // Values from tool outputs are not made up; nor is the placeholder of a secret, which is restored below.
  const sources = stringifyExactJson([REDACTED, ...past.outputs.values()]).slice(0, MAX_SOURCES);
  const checked = checkDraft(draft, tools, said, {
    leftOut,
    sources,
    context,
    policy,
    limits,
    given: past.given,
  });
  if (!checked.plan) return "asks" in checked && checked.asks.length > 0 ? asFailure(checked) : checked;
  const effects = effectsOf(tools);
  const mayRun = stricterEffects(policy.replannedEffects, replannedEffects) === "run";
  const known = new Map<string, Step>(past.plan.steps.map((step) => [step.id, step]));
  const steps = checked.plan.steps.map((step) => restoreSecrets(step, known.get(step.id)));
  const hidden = steps.filter((step) => JSON.stringify(step).includes(REDACTED));
  if (hidden.length > 0) {
    return rejected([...checked.diagnostics, ...hidden.map(hiddenValue)]);
  }
  const { plan, changed } = composeReplan(past, { ...checked.plan, steps }, { ...effects, mayRun });
  const repeated = repeatedEffects(past, plan, { changed, hasEffects: effects.actsAgain });
  const diagnostics = [...checked.diagnostics, ...repeated];
  if (repeated.length > 0) return rejected(diagnostics);
  const digest = planDigest(plan);
  if (past.tried.some((tried) => planDigest(tried) === digest))
    return { plan: null, diagnostics, failure: UNCHANGED };
  return { plan, diagnostics };
}

/** Diagnostics that only the model can remove. */
const rejected = (diagnostics: Diagnostic[]): CheckedDraft => ({
  plan: null,
  diagnostics,
  open: null,
  asks: [],
});

/** A secret may only be used where it was used before. */
function hiddenValue({ id }: Step): Diagnostic {
  const message = `step ${id}: ${REDACTED} is the placeholder of a secret that another argument used, and may not be used here; leave it out, or keep the step unchanged`;
  return { code: "ARGUMENT_PLACEHOLDER", severity: "error", stepId: id, message };
}

const UNCHANGED = {
  code: "REPLAN_UNCHANGED",
  message:
    "The model gave a plan that was tried before under this request. Use rerun to repeat the failed steps, or replan with a note that says what to do differently",
};

/** A replan cannot ask the user, but the note of another replan can answer. */
function asFailure({
  diagnostics,
  asks,
}: Pick<CheckedDraft, "diagnostics"> & { asks: string[] }): CheckedDraft {
  const message = `The model needs to know more: ${asks.join(" ")} Use replan with a note that contains the answer`;
  return { plan: null, diagnostics, failure: { code: "NOT_PLANNABLE", message } };
}
