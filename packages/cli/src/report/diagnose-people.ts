import type { PlanSnapshot, StepSnapshot } from "../api/request-snapshot.ts";
import type { DebugFacts } from "./debug-facts.ts";
import { serverOf } from "./debug-facts.ts";
import type { Diagnosis, NextStep } from "./diagnosis.ts";
import { count, problem, stepName } from "./format.ts";

/** Characters of a hash that name it: enough that no other one of a request has them. */
const SHOWN_HASH = 12;

/** How to approve a step, or to refuse it, naming exactly what was seen. */
export function approvalNext({ request, command }: DebugFacts, step: StepSnapshot): NextStep[] {
  const words = [
    "approve",
    request.requestId,
    step.id,
    "--hash",
    (step.approvalHash ?? "").slice(0, SHOWN_HASH),
  ];
  return [
    { say: "Approve exactly this call:", command: command(...words) },
    { say: "Or refuse it:", command: command(...words, "--refuse", "--reason", "<why>") },
  ];
}

/** Steps of which it is not known whether they happened. */
export function doubtDiagnosis(
  facts: DebugFacts,
  plan: PlanSnapshot,
  inDoubt: readonly StepSnapshot[],
): Diagnosis {
  const [step] = inDoubt;
  if (!step) throw new TypeError("doubtDiagnosis needs a step in doubt");
  const others = inDoubt.length > 1 ? `, and ${count(inDoubt.length - 1, "more step")} in doubt` : "";
  const isOver = plan.finishedAt !== null;
  return {
    tone: "attention",
    cause: `it is not known whether the call of step ${stepName(step)} happened (IN_DOUBT)${others}`,
    why: [
      `${step.error ? problem(step.error) : "Its answer was lost."}`,
      hasKey(step)
        ? `Called again under the same key, ${step.tool} acts once at most.`
        : `${step.tool} can neither be asked nor be called again without risk${isOver ? "" : ", so the plan waits"}.`,
    ],
    next: hasKey(step) ? callAgain(facts, step, isOver) : sayWhatHappened(facts, step),
  };
}

/** True for a call that bears a key: the tool's server acts once under it, however often it is sent. */
export const hasKey = ({ effectClass }: StepSnapshot): boolean => effectClass === "K";

function callAgain({ request, command }: DebugFacts, step: StepSnapshot, isOver: boolean): NextStep[] {
  const again = isOver
    ? command("retry", request.requestId)
    : command("resolve", request.requestId, step.key, "--retry");
  return [{ say: "Have it called again under the same key:", command: again }];
}

function sayWhatHappened(facts: DebugFacts, step: StepSnapshot): NextStep[] {
  const { request, command } = facts;
  const server = serverOf(facts, step.tool);
  const resolve = (...words: string[]) => command("resolve", request.requestId, step.key, ...words);
  return [
    {
      say: `Look in ${server === undefined ? "its server" : `"${server}"`} whether it happened. If it did, give its output:`,
      command: resolve("--completed", '{"_id":"…"}'),
    },
    { say: "If it did not, have it called again:", command: resolve("--retry") },
  ];
}
