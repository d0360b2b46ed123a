import { countText } from "@planwright/plan";
import type { Finding, NextAction } from "./diagnosis.ts";
import { type DiagnosisFacts, type PlanFact, type StepFact, serverOf } from "./facts.ts";
import { rerun, settleCompleted, settleRetry } from "./next-actions.ts";
import { problem, stepName } from "./wording.ts";

/**
 * True for a call with an idempotency key: the tool's server acts at most once for a key, however often it is
 * sent.
 */
export const hasKey = ({ effectClass }: StepFact): boolean => effectClass === "K";

/** Steps of which it is not known whether their calls happened. */
export function diagnoseDoubt(
  facts: DiagnosisFacts,
  plan: PlanFact,
  [step, ...others]: readonly [StepFact, ...StepFact[]],
): Finding {
  const more = others.length > 0 ? `, and ${countText(others.length, "more step")} in doubt` : "";
  const hasEnded = plan.finishedAt !== null;
  return {
    code: "IN_DOUBT",
    message: `it is not known whether the call of step ${stepName(step)} happened (IN_DOUBT)${more}`,
    errorCode: step.error?.code,
    reasons: [
      `${step.error ? problem(step.error) : "Its answer was lost."}`,
      hasKey(step)
        ? `Called again under the same key, ${step.tool} acts once at most.`
        : `${step.tool} can neither be asked nor be called again without risk${hasEnded ? "" : ", so the plan waits"}.`,
    ],
    stepKeys: [step, ...others].map(({ key }) => key),
    since: step.finishedAt ?? step.startedAt,
    next: hasKey(step) ? [callAgain(facts, step, hasEnded)] : sayWhatHappened(facts, step),
  };
}

function callAgain({ request }: DiagnosisFacts, step: StepFact, hasEnded: boolean): NextAction {
  const description = "Have it called again under the same key:";
  return hasEnded ? rerun(request, description) : settleRetry(request, step, description);
}

function sayWhatHappened(facts: DiagnosisFacts, step: StepFact): NextAction[] {
  const { request } = facts;
  const server = serverOf(facts, step.tool);
  const where = server === undefined ? "its server" : `"${server}"`;
  return [
    settleCompleted(request, step, `Look in ${where} whether it happened. If it did, give its output:`),
    settleRetry(request, step, "If it did not, have it called again:"),
  ];
}

/**
 * The finding about a plan that has ended, with its doubts. Calls that bear a key are asked again with the
 * rest; the others have to be settled before anything runs again.
 */
export function withDoubt(
  finding: Finding,
  facts: DiagnosisFacts,
  plan: PlanFact,
  inDoubt: readonly StepFact[],
): Finding {
  const toSettle = inDoubt.filter((step) => !hasKey(step));
  const [first, ...others] = toSettle.length > 0 ? toSettle : inDoubt;
  if (!first) return finding;
  const doubt = diagnoseDoubt(facts, plan, [first, ...others]);
  const [settle] = toSettle.length > 0 ? doubt.next : [];
  return {
    ...finding,
    reasons: [
      ...(finding.reasons ?? []).slice(0, 1),
      `Also, ${doubt.message}.`,
      ...(settle ? [] : (doubt.reasons ?? []).slice(1)),
    ],
    stepKeys: [...(finding.stepKeys ?? []), ...(doubt.stepKeys ?? [])],
    next: [
      ...(settle
        ? [
            {
              ...settle,
              description: `${settle.description.replace(/ If it did.*/, "")} Say so (or --retry):`,
            },
          ]
        : []),
      ...finding.next.slice(0, 1),
    ],
  };
}
