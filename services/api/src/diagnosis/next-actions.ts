import { hasDoneEffect, needsAcceptance } from "@planwright/engine";
import { type JsonValue, PLACEHOLDER } from "@planwright/plan";
import type { ModelLimits } from "@planwright/store";
import type { NextAction } from "./diagnosis.ts";
import type { RequestFact, StepFact } from "./facts.ts";

// Each function makes one action: the GraphQL field with its arguments, and the command that does the same.

type Named = Pick<RequestFact, "requestId">;

/** Follows the request. */
export function follow({ requestId }: Named, description = "Follow it:"): NextAction {
  const command = ["watch", requestId];
  return { description, operation: "requestUpdated", arguments: { requestId }, command };
}

/** Most steps that one rerun names. */
const MAX_REPEATED = 100;

/** What a rerun does beside running the steps that did not complete. */
interface RerunOptions {
  /** An argument that needs another value, which the user has to fill in. */
  correct?: { stepId: string; name: string };
  /** A step that completed and is called again, with the steps that depend on it. */
  from?: string;
}

/**
 * Runs the steps that did not complete again. Steps that acted or may have acted and are called once more are
 * named, and the description says to check them first.
 */
export function rerun(
  request: Pick<RequestFact, "requestId" | "plan">,
  description: string,
  { correct, from }: RerunOptions = {},
): NextAction {
  const { requestId } = request;
  const { acceptRepeat, warning } = toAccept(request, from);
  const sets = correct && [{ stepId: correct.stepId, set: { [correct.name]: PLACEHOLDER } }];
  const set = correct ? ["--set", `${correct.stepId}.${correct.name}=${PLACEHOLDER}`] : [];
  return {
    description: `${warning}${description}`,
    operation: "rerun",
    arguments: {
      requestId,
      ...(from !== undefined && { from }),
      ...(sets && { arguments: sets }),
      ...accepting(acceptRepeat),
    },
    command: [
      "retry",
      requestId,
      ...(from === undefined ? [] : ["--from", from]),
      ...set,
      ...repeatOptions(acceptRepeat),
    ],
  };
}

/** Replaces one part of the plan, and runs the remaining steps. @param value - the user has to fill it in */
export function amendPart(
  request: Pick<RequestFact, "requestId" | "version" | "plan">,
  { paths, value }: { paths: readonly string[]; value: JsonValue },
  description: string,
): NextAction {
  const { requestId, version: fromVersion } = request;
  const { acceptRepeat, warning } = toAccept(request);
  const patch = paths.map((path) => ({ op: "replace", path, value }));
  const from = ["--from-version", `${fromVersion}`];
  return {
    description: `${warning}${description}`,
    operation: "amendPlan",
    arguments: { requestId, fromVersion, patch, execute: true, ...accepting(acceptRepeat) },
    command: [
      "amend",
      requestId,
      "--patch",
      JSON.stringify(patch),
      ...from,
      ...repeatOptions(acceptRepeat),
      "--execute",
    ],
  };
}

/**
 * The steps that a change must name, because their calls acted or may have acted, and a warning about them.
 * @param from - a completed step that is called again
 */
function toAccept(
  { plan }: Pick<RequestFact, "plan">,
  from?: string,
): { acceptRepeat: string[]; warning: string } {
  const open = (plan?.steps ?? []).filter(
    (step) => needsAcceptance(step) || (step.id === from && hasDoneEffect(step)),
  );
  const acceptRepeat = [...new Set(open.map(({ id }) => id))].slice(0, MAX_REPEATED);
  if (acceptRepeat.length === 0) return { acceptRepeat, warning: "" };
  const named = `${acceptRepeat.slice(0, 3).join(", ")}${acceptRepeat.length > 3 ? ", …" : ""}`;
  const again = acceptRepeat.length > 1 ? "them" : "it";
  return {
    acceptRepeat,
    warning: `${named} may have acted: check that first, since this calls ${again} once more. `,
  };
}

const accepting = (acceptRepeat: string[]) => (acceptRepeat.length > 0 ? { acceptRepeat } : {});
const repeatOptions = (acceptRepeat: readonly string[]) => acceptRepeat.flatMap((id) => ["--repeat", id]);

/** Has the planner replan the rest of the plan. */
export function replan({ requestId }: Named, description: string): NextAction {
  return { description, operation: "replan", arguments: { requestId }, command: ["replan", requestId] };
}

/** An operation whose only argument is the request, and whose command has the given name. */
export function act(
  { requestId }: Named,
  operation: "executePlan" | "resume" | "cancel" | "answerQuestions",
  command: string,
  description: string,
): NextAction {
  return { description, operation, arguments: { requestId }, command: [command, requestId] };
}

/**
 * Sends a sentence as a new request; complete, because a part of it would be another one.
 * @param limits - of its model calls; default: those of the service
 */
export function ask(query: string, description: string, limits: SetLimits = {}): NextAction {
  const args = limitArguments(limits);
  return {
    description,
    operation: "createPlan",
    arguments: { query, ...(args.length > 0 ? { limits } : {}) },
    command: ["run", query, ...args],
  };
}

/** Submits a plan that the client has corrected. */
export function submit(description: string): NextAction {
  const command = ["submit", "plan.json", "--execute"];
  return { description, operation: "submitPlan", arguments: { execute: true }, command };
}

/** Makes the plan of an earlier version the next one, and runs its remaining steps. */
export function goBack(
  { requestId, version: fromVersion }: Pick<RequestFact, "requestId" | "version">,
  restoreVersion: number,
  description: string,
): NextAction {
  const args = ["--restore", `${restoreVersion}`, "--from-version", `${fromVersion}`];
  return {
    description,
    operation: "amendPlan",
    arguments: { requestId, restoreVersion, fromVersion, execute: true },
    command: ["amend", requestId, ...args, "--execute"],
  };
}

/** Lists the workers. */
export function showFleet(description: string): NextAction {
  return { description, operation: "fleet", arguments: {}, command: ["fleet"] };
}

/** The same sentence, or the same plan, once more. @param limits - as for {@link ask} */
export function sendAgain({ query }: RequestFact, description: string, limits: SetLimits = {}): NextAction {
  return query === null ? submit(description) : ask(query, description, limits);
}

/** Says where a person signs in at a tool server. */
export function signIn(server: string, description: string): NextAction {
  return { description, operation: "toolServers", arguments: {}, command: ["sign-in", server] };
}

/** Lists the tools. */
export function listTools(description: string): NextAction {
  return { description, operation: "getAvailableTools", arguments: {}, command: ["tools"] };
}

/** Shows one tool. */
export function showTool(name: string, description: string): NextAction {
  return { description, operation: "getAvailableTools", arguments: {}, command: ["tools", name] };
}

/** Lists the plans that are executed now. */
export function listRunning(description: string): NextAction {
  const command = ["list", "--status", "EXECUTING"];
  return { description, operation: "requests", arguments: { status: ["EXECUTING"] }, command };
}

/** Characters of an approval hash in the command: enough that no other hash of a request begins with them. */
const SHOWN_HASH = 12;

/** Approves or refuses exactly the call that the operator has seen. */
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

/**
 * Reports that a call in doubt happened, with its output.
 * @param sample - an output of the tool in which the user has to fill in the values
 */
export function settleCompleted(
  { requestId }: Named,
  step: StepFact,
  sample: JsonValue,
  description: string,
): NextAction {
  return {
    description,
    operation: "resolveInDoubt",
    arguments: { requestId, stepKey: step.key, resolution: "completed", output: sample },
    command: ["resolve", requestId, step.key, "--completed", JSON.stringify(sample)],
  };
}

/** Reports that a call in doubt did not happen, or has a key: it is called again. */
export function settleRetry({ requestId }: Named, step: StepFact, description: string): NextAction {
  return {
    description,
    operation: "resolveInDoubt",
    arguments: { requestId, stepKey: step.key, resolution: "retry" },
    command: ["resolve", requestId, step.key, "--retry"],
  };
}

/** Factor by which a limit that was too low is raised. */
const FACTOR = 4;

/** Smallest suggested limits: enough to plan a sentence with a few steps, and to repair the plan. */
const LEAST = { maxModelCalls: 4, maxTokens: 20_000, maxCostUsd: 0.1 } as const;

/** The CLI option for each limit. */
const OPTIONS = {
  maxModelCalls: "--max-model-calls",
  maxTokens: "--max-tokens",
  maxCostUsd: "--max-cost-usd",
} as const satisfies Record<keyof ModelLimits, string>;

const LIMITS = Object.keys(OPTIONS) as (keyof ModelLimits)[];

/** Limits of model calls, without those that are not set. */
type SetLimits = { readonly [limit in keyof ModelLimits]?: number };

/**
 * The limits of a request that reached one of them, raised as far as the service allows, and the reached one
 * above what the next model call needs. Empty when the service allows no more than the request had, or less
 * than that call needs. Pure.
 * @param need - what the request needs in all, as far as its error says it
 */
export function raisedLimits(
  limits: ModelLimits | undefined,
  ofService: ModelLimits | undefined,
  need: SetLimits = {},
): SetLimits {
  const isOutOfReach = LIMITS.some((limit) => (need[limit] ?? 0) > (ofService?.[limit] ?? Infinity));
  if (isOutOfReach) return {};
  return Object.fromEntries(
    LIMITS.flatMap((limit) => {
      const had = limits?.[limit] ?? null;
      if (had === null) return [];
      const wanted = Math.max(LEAST[limit], FACTOR * had, 2 * (need[limit] ?? 0));
      const raised = Math.min(wanted, ofService?.[limit] ?? Infinity);
      return raised > had ? [[limit, raised]] : [];
    }),
  );
}

/** As the message of BUDGET_EXCEEDED says it (packages/models). */
const NEED =
  /^The limit (\w+) of this request is .{1,40}: \$?([\d.]+)(?: tokens)? used so far, and .{1,300} may take \$?([\d.]+)/;

/** What the error of a request says that it needs of the reached limit: used so far, and the next call. Pure. */
export function neededLimits(message: string): SetLimits {
  const [, name, used, next] = NEED.exec(message) ?? [];
  const limit = LIMITS.find((one) => one === name);
  return limit === undefined ? {} : { [limit]: Number(used) + Number(next) };
}

/** The CLI arguments for these limits. */
function limitArguments(limits: SetLimits): string[] {
  return LIMITS.flatMap((limit) => (limits[limit] === undefined ? [] : [OPTIONS[limit], `${limits[limit]}`]));
}
