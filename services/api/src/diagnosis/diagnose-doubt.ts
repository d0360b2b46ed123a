import {
  countText,
  isJsonObject,
  isKeyed,
  isLookedUp,
  type JsonObject,
  type JsonValue,
  PLACEHOLDER,
  schemaOfShape,
} from "@planwright/plan";
import { type NextAction, type PartialDiagnosis, problem, stepName } from "./diagnosis.ts";
import { type DiagnosisFacts, type PlanFact, type StepFact, serverOf } from "./facts.ts";
import { rerun, settleCompleted, settleRetry } from "./next-actions.ts";

/** Steps whose calls may or may not have happened. */
export function diagnoseDoubt(
  facts: DiagnosisFacts,
  plan: PlanFact,
  [step, ...others]: readonly [StepFact, ...StepFact[]],
): PartialDiagnosis {
  const more = others.length > 0 ? `, and ${countText(others.length, "more step")} in doubt` : "";
  const hasEnded = plan.finishedAt !== null;
  return {
    code: "IN_DOUBT",
    message: `it is not known whether the call of step ${stepName(step)} happened (IN_DOUBT)${more}`,
    errorCode: step.error?.code,
    reasons: [
      `${step.error ? problem(step.error) : "Its answer was lost."}`,
      isKeyed(step)
        ? `Called again with the same key, ${step.tool} acts at most once.`
        : `${isLookedUp(step) ? `No look-up has told whether it happened, and calling ${step.tool}` : `${step.tool} cannot be looked up, and calling it`} again is not safe${hasEnded ? "" : ", so the plan waits"}.`,
    ],
    stepKeys: [step, ...others].map(({ key }) => key),
    since: step.finishedAt ?? step.startedAt,
    next: isKeyed(step) ? [repeatCall(facts, step, hasEnded)] : settleActions(facts, step),
  };
}

function repeatCall({ request }: DiagnosisFacts, step: StepFact, hasEnded: boolean): NextAction {
  const description = "Call it again with the same key:";
  return hasEnded ? rerun(request, description) : settleRetry(request, step, description);
}

function settleActions(facts: DiagnosisFacts, step: StepFact): NextAction[] {
  const { request } = facts;
  const server = serverOf(facts, step.tool);
  const where = server === undefined ? "its server" : `"${server}"`;
  return [
    settleCompleted(
      request,
      step,
      sampleOutput(facts, step),
      `Look in ${where} whether it happened. If it did, give its output:`,
    ),
    settleRetry(request, step, "If it did not, call it again:"),
  ];
}

/** Most fields of a sample. */
const MAX_FIELDS = 8;

/**
 * What the tool returns, by its schema or else by what it returned before, with a placeholder for each value.
 * Only a placeholder when neither is known.
 */
function sampleOutput({ tools }: Pick<DiagnosisFacts, "tools">, { tool }: StepFact): JsonValue {
  const known = tools.find(({ name }) => name === tool);
  const seen = known?.observedOutput && schemaOfShape(known.observedOutput);
  const [declared, returned] = [known?.outputSchema, seen].map(sampleOf);
  // A schema of an object may name no field.
  const sample = declared && Object.keys(declared).length > 0 ? declared : (returned ?? declared);
  if (!sample) return PLACEHOLDER;
  return Object.keys(sample).length > 0 ? sample : { [PLACEHOLDER]: PLACEHOLDER };
}

/** An object without fields: none is known. Undefined: it is not an object. */
function sampleOf(schema: JsonObject | undefined): JsonObject | undefined {
  if (schema?.["type"] !== "object") return undefined;
  const { properties, required } = schema;
  const names = isJsonObject(properties) ? Object.keys(properties) : [];
  const needed = Array.isArray(required) ? names.filter((name) => required.includes(name)) : names;
  const shown = (needed.length > 0 ? needed : names).slice(0, MAX_FIELDS);
  return Object.fromEntries(shown.map((name) => [name, PLACEHOLDER]));
}

/**
 * The diagnosis of a plan that has ended with steps in doubt. Calls with a key are repeated with the other
 * steps; the rest must be settled before a rerun.
 */
export function withDoubt(
  partial: PartialDiagnosis,
  facts: DiagnosisFacts,
  plan: PlanFact,
  inDoubt: readonly StepFact[],
): PartialDiagnosis {
  const toSettle = inDoubt.filter((step) => !isKeyed(step));
  const [first, ...others] = toSettle.length > 0 ? toSettle : inDoubt;
  if (!first) return partial;
  const doubt = diagnoseDoubt(facts, plan, [first, ...others]);
  const [settle] = toSettle.length > 0 ? doubt.next : [];
  return {
    ...partial,
    reasons: [
      ...(partial.reasons ?? []).slice(0, 1),
      `Also, ${doubt.message}.`,
      ...(settle ? [] : (doubt.reasons ?? []).slice(1)),
    ],
    stepKeys: [...(partial.stepKeys ?? []), ...(doubt.stepKeys ?? [])],
    next: [
      ...(settle
        ? [
            {
              ...settle,
              description: settle.description.replace(/:$/, ", otherwise --retry:"),
            },
          ]
        : []),
      ...partial.next.slice(0, 1),
    ],
  };
}
