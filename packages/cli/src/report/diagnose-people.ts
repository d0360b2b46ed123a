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
  const { request, command } = facts;
  const [step] = inDoubt;
  if (!step) throw new TypeError("doubtDiagnosis needs a step in doubt");
  const server = serverOf(facts, step.tool);
  const others = inDoubt.length > 1 ? `, and ${count(inDoubt.length - 1, "more step")} in doubt` : "";
  const resolve = (...words: string[]) => command("resolve", request.requestId, step.key, ...words);
  return {
    tone: "attention",
    cause: `it is not known whether the call of step ${stepName(step)} happened (IN_DOUBT)${others}`,
    why: [
      `${step.error ? problem(step.error) : "Its answer was lost."}`,
      `${step.tool} can neither be asked nor be called again without risk${
        plan.finishedAt === null ? ", so the plan waits" : ""
      }.`,
    ],
    next: [
      {
        say: `Look in ${server === undefined ? "its server" : `"${server}"`} whether it happened. If it did, give its output:`,
        command: resolve("--completed", '{"_id":"…"}'),
      },
      { say: "If it did not, have it called again:", command: resolve("--retry") },
    ],
  };
}
