import type { NextAction } from "./diagnosis.ts";
import type { RequestFact, StepFact } from "./facts.ts";
import { limitWords, type SetLimits } from "./raised-limits.ts";
import { clipped } from "./wording.ts";

// Each function makes one action: the GraphQL field with its arguments, and the command that does the same.

type Named = Pick<RequestFact, "requestId">;

/** Follows the request. */
export function follow({ requestId }: Named, description = "Follow it:"): NextAction {
  const command = ["watch", requestId];
  return { description, operation: "requestUpdated", arguments: { requestId }, command };
}

/** Runs again what did not complete. */
export function rerun({ requestId }: Named, description: string): NextAction {
  return { description, operation: "rerun", arguments: { requestId }, command: ["retry", requestId] };
}

/** Has the planner make the rest of the plan anew. */
export function replan({ requestId }: Named, description: string): NextAction {
  return { description, operation: "replan", arguments: { requestId }, command: ["replan", requestId] };
}

/** An operation that takes nothing but the request, and whose command has the name that is given. */
export function act(
  { requestId }: Named,
  operation: "executePlan" | "resume" | "cancel" | "answerQuestions",
  command: string,
  description: string,
): NextAction {
  return { description, operation, arguments: { requestId }, command: [command, requestId] };
}

/** Sends a sentence as a new request. @param limits - of its model calls; default: those of the service */
export function ask(sentence: string, description: string, limits: SetLimits = {}): NextAction {
  const query = clipped(sentence, 1_000);
  const words = limitWords(limits);
  return {
    description,
    operation: "createPlan",
    arguments: { query, ...(words.length > 0 ? { limits } : {}) },
    command: ["run", query, ...words],
  };
}

/** Submits a plan that the client has corrected. */
export function submit(description: string): NextAction {
  const command = ["submit", "plan.json", "--execute"];
  return { description, operation: "submitPlan", arguments: { execute: true }, command };
}

/** Makes the plan of an earlier version the next one, and runs what is left of it. */
export function goBack(
  { requestId, version: fromVersion }: Pick<RequestFact, "requestId" | "version">,
  restoreVersion: number,
  description: string,
): NextAction {
  const words = ["--restore", `${restoreVersion}`, "--from-version", `${fromVersion}`];
  return {
    description,
    operation: "amendPlan",
    arguments: { requestId, restoreVersion, fromVersion, execute: true },
    command: ["amend", requestId, ...words, "--execute"],
  };
}

/** Gives other tools to the steps at these places of the document, and runs what is left. */
export function callOtherTool(
  { requestId, version: fromVersion }: Pick<RequestFact, "requestId" | "version">,
  { paths, tool }: { paths: readonly string[]; tool: string },
  description: string,
): NextAction {
  const patch = paths.map((path) => ({ op: "replace", path, value: tool }));
  return {
    description,
    operation: "amendPlan",
    arguments: { requestId, fromVersion, patch, execute: true },
    command: ["amend", requestId, "plan.json", "--from-version", `${fromVersion}`, "--execute"],
  };
}

/** Lists the workers. */
export function lookAtFleet(description: string): NextAction {
  return { description, operation: "fleet", arguments: {}, command: ["fleet"] };
}

/** The same sentence, or the same plan, once more. @param limits - as for {@link ask} */
export function sendAgain({ query }: RequestFact, description: string, limits: SetLimits = {}): NextAction {
  return query === null ? submit(description) : ask(query, description, limits);
}

/** Lists the tools. */
export function listTools(description: string): NextAction {
  return { description, operation: "getAvailableTools", arguments: {}, command: ["tools"] };
}

/** Lists the plans that are executed now. */
export function listRunning(description: string): NextAction {
  const command = ["list", "--status", "EXECUTING"];
  return { description, operation: "requests", arguments: { status: ["EXECUTING"] }, command };
}

/**
 * Characters of an approval hash that the command names: enough that no other hash of a request begins with
 * them.
 */
const SHOWN_HASH = 12;

/** Approves or refuses exactly the call that was seen. */
export function decide({ requestId }: Named, { id: stepId, approvalHash }: StepFact): NextAction[] {
  const hash = approvalHash ?? "";
  const command = ["approve", requestId, stepId, "--hash", hash.slice(0, SHOWN_HASH)];
  const which = { requestId, stepId, approvalHash: hash };
  return [
    {
      description: "Approve exactly this call:",
      operation: "approve",
      arguments: { ...which, approved: true },
      command,
    },
    {
      description: "Or refuse it:",
      operation: "approve",
      arguments: { ...which, approved: false, reason: "<why>" },
      command: [...command, "--refuse", "--reason", "<why>"],
    },
  ];
}

/** What the command and the mutation show in the place of the output that the operator has to find. */
const SAMPLE_OUTPUT = { _id: "…" };

/** Says that a call in doubt happened, with its output. */
export function settleCompleted(request: Named, step: StepFact, description: string): NextAction {
  const { requestId } = request;
  return {
    description,
    operation: "resolveInDoubt",
    arguments: { requestId, stepKey: step.key, resolution: "completed", output: SAMPLE_OUTPUT },
    command: ["resolve", requestId, step.key, "--completed", JSON.stringify(SAMPLE_OUTPUT)],
  };
}

/** Says that a call in doubt did not happen, or bears a key: it is called again. */
export function settleRetry({ requestId }: Named, step: StepFact, description: string): NextAction {
  return {
    description,
    operation: "resolveInDoubt",
    arguments: { requestId, stepKey: step.key, resolution: "retry" },
    command: ["resolve", requestId, step.key, "--retry"],
  };
}
