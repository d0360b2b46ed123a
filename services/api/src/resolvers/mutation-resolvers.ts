import { setTimeout as delay } from "node:timers/promises";
import {
  type ContractProposal,
  canonicalDigest,
  countText,
  parseExactJson,
  type SuggestedContract,
  suggestForServer,
  type ToolDescriptor,
} from "@planwright/plan";
import type { ContractAnswer, Fleet, ServerReload } from "@planwright/store";
import { NoExecutorError, ToolServerNotFoundError } from "../errors/api-error.ts";
import type { OperationTable } from "../graphql/operations.ts";
import type { GraphqlContext } from "../operation/context.ts";
import { readToolCalls, toToolView } from "../operation/tool-view.ts";
import { type AmendInput, amendPlan } from "../plans/amend-plan.ts";
import { type AnswersInput, answerQuestions } from "../plans/answer-questions.ts";
import {
  type BulkRerunInput,
  cancelRequests,
  rerunRequests,
  resumeRequests,
  retryFailedRequests,
  type SelectionInput,
} from "../plans/bulk-mutations.ts";
import {
  acceptAndWait,
  createPlan,
  parseWait,
  type SentenceInput,
  type WaitInput,
} from "../plans/create-plan.ts";
import {
  type ApprovalInput,
  approve,
  type ResolutionInput,
  type ResolutionsInput,
  resolveInDoubt,
  resolveManyInDoubt,
} from "../plans/decisions.ts";
import { type ExecuteInput, executePlan } from "../plans/execute-plan.ts";
import { cancelRequest, pauseRequest, resumeRequest } from "../plans/pause.ts";
import { type ReplanInput, type RerunInput, replan, rerun } from "../plans/rerun.ts";
import { type SubmitInput, submitPlan } from "../plans/submit-plan.ts";
import {
  createPlanWithRequestId,
  executeByRequestId,
  malformedIsUnknown,
  type OlderSentenceInput,
} from "./older-mutations.ts";

/** Arguments of the mutation reloadToolServer. */
interface ReloadInput extends WaitInput {
  name: string;
}

/** How one executor reloaded a server. */
interface ExecutorReloadView extends Pick<ServerReload, "executor" | "reason" | "stderrTail"> {
  outcome: Uppercase<ServerReload["outcome"]> | "PENDING";
}

/** Between two readings of what was asked for, in milliseconds. */
const READ_EVERY_MS = 200;
const OUTCOMES = { reloaded: "RELOADED", kept: "KEPT", unknown: "UNKNOWN" } as const;

/**
 * Asks every executor to connect to a tool server anew, and waits for them.
 * @throws {BadInputError | ToolServerNotFoundError | NoExecutorError}
 */
async function reloadToolServer(
  context: GraphqlContext,
  { name, ...input }: ReloadInput,
): Promise<{ name: string; executors: ExecutorReloadView[] }> {
  const { store, signal, by } = context;
  const waitMs = parseWait(input);
  const servers = await store.toolServers();
  if (!servers.some(({ server }) => server === name)) throw new ToolServerNotFoundError(name);
  if (executorsOf(await context.readFleet()).length === 0) throw new NoExecutorError(name);
  const asked = await store.askReload(name, by);
  if (!asked) throw new ToolServerNotFoundError(name);
  context.releaseSlot?.();
  const endsAt = performance.now() + waitMs;
  for (;;) {
    const [fleet, reported] = await Promise.all([context.readFleet(), store.toolServers()]);
    const reloads = reported.find(({ server }) => server === name)?.reloads ?? [];
    // An executor that started later has a new connection anyway.
    const executors = executorsOf(fleet)
      .filter(({ startedAt }) => startedAt <= asked.askedAt)
      .map(({ name: executor }) => viewOf(executor, reloads, asked.askedAt));
    const isOver = executors.every(({ outcome }) => outcome !== "PENDING");
    if (isOver || signal?.aborted || performance.now() >= endsAt) return { name, executors };
    await delay(READ_EVERY_MS);
  }
}

function executorsOf({ workers }: Fleet): Fleet["workers"] {
  return workers.filter(({ kind, takesWork }) => kind === "executor" && takesWork);
}

function viewOf(executor: string, reloads: readonly ServerReload[], askedAt: Date): ExecutorReloadView {
  const done = reloads.find((each) => each.executor === executor && each.askedAt >= askedAt);
  if (!done) return { executor, outcome: "PENDING", reason: null, stderrTail: null };
  const { outcome, reason, stderrTail } = done;
  return { executor, outcome: OUTCOMES[outcome], reason, stderrTail };
}

type RequestIdOnly = { requestId: string };

/** Fields of Mutation. */
export const mutationResolvers = {
  createPlan: mutation((context, input: SentenceInput & WaitInput) =>
    acceptAndWait(context, input, () => createPlan(context, input)),
  ),
  submitPlan: mutation((context, input: SubmitInput & WaitInput) =>
    acceptAndWait(context, input, () => submitPlan(context, input)),
  ),
  executePlan: mutation((context, input: ExecuteInput) => executePlan(context, input)),
  cancel: mutation((context, { requestId }: RequestIdOnly) => cancelRequest(context, requestId)),
  answerQuestions: mutation((context, input: AnswersInput) => answerQuestions(context, input)),
  pause: mutation((context, { requestId }: RequestIdOnly) => pauseRequest(context, requestId)),
  resume: mutation((context, { requestId }: RequestIdOnly) => resumeRequest(context, requestId)),
  approve: mutation((context, input: ApprovalInput) => approve(context, input)),
  resolveInDoubt: mutation((context, input: ResolutionInput) => resolveInDoubt(context, input)),
  resolveManyInDoubt: mutation((context, input: ResolutionsInput) => resolveManyInDoubt(context, input)),
  rerun: mutation((context, input: RerunInput) => rerun(context, input)),
  amendPlan: mutation((context, input: AmendInput) => amendPlan(context, input)),
  cancelRequests: mutation((context, input: SelectionInput) => cancelRequests(context, input)),
  resumeRequests: mutation((context, input: SelectionInput) => resumeRequests(context, input)),
  rerunRequests: mutation((context, input: BulkRerunInput & { from?: string | null }) =>
    rerunRequests(context, input),
  ),
  retryFailedRequests: mutation((context, input: BulkRerunInput) => retryFailedRequests(context, input)),
  replan: mutation((context, input: ReplanInput) => replan(context, input)),
  reloadToolServer: mutation((context, input: ReloadInput) => reloadToolServer(context, input)),
  suggestContracts: mutation((context, input: SuggestInput) => suggestContracts(context, input)),
  createPlanWithRequestId: mutation((context, input: OlderSentenceInput) =>
    createPlanWithRequestId(context, input),
  ),
  createPlanWithWorkflow: mutation((context, input: OlderSentenceInput) =>
    createPlanWithRequestId(context, input),
  ),
  executeByRequestId: mutation((context, { requestId }: RequestIdOnly) =>
    malformedIsUnknown(requestId, () => executeByRequestId(context, requestId)),
  ),
} satisfies Record<keyof OperationTable["mutation"], unknown>;

/** Clears the reads of earlier fields in the same operation, so that the result is read again. */
function mutation<Arguments, Result>(
  run: (context: GraphqlContext, input: Arguments) => Promise<Result>,
): (_: unknown, input: Arguments, context: GraphqlContext) => Promise<Result> {
  return (_, input, context) => {
    context.reads.forget();
    return run(context, input);
  };
}

/** Arguments of the mutation suggestContracts. */
interface SuggestInput extends WaitInput {
  server: string;
}

/** What came of asking a model, and its proposals. */
interface Asked {
  state: "NONE" | "PENDING" | "ANSWERED" | "FAILED";
  note: string;
  proposals: readonly ContractProposal[];
}

/** The workers are read once a second: a planner that started just now may be missing. */
const NOT_YET_SEEN_MS = 2_000;

/**
 * Suggests contracts by the rules, and asks a planner with a model, if one lives, for its proposals. Whatever the
 * model does, there is an answer: without its proposals it is that of the rules.
 * @throws {BadInputError | ToolServerNotFoundError}
 */
async function suggestContracts(
  context: GraphqlContext,
  { server, ...input }: SuggestInput,
): Promise<Omit<Asked, "proposals"> & { server: string; tools: SuggestedContract[] }> {
  const waitMs = parseWait(input);
  const tools = (await context.store.toolCatalogue()).filter((tool) => tool.server === server);
  if (tools.length === 0) throw new ToolServerNotFoundError(server);
  const { proposals, ...said } = await askModel(context, { server, tools, waitMs });
  const listed = await Promise.all(
    tools.map(async (tool) => {
      const view = toToolView(tool);
      return { ...view, contractReport: view.contractReport(), calls: await readToolCalls(view, context) };
    }),
  );
  return { server, ...said, tools: suggestForServer(listed, server, proposals) };
}

const without = (state: Asked["state"], note: string): Asked => ({ state, note, proposals: [] });

/** Asks a planner, and waits for the answer. */
async function askModel(
  context: GraphqlContext,
  { server, tools, waitMs }: { server: string; tools: readonly ToolDescriptor[]; waitMs: number },
): Promise<Asked> {
  const { store, signal, tenant, modelLimits } = context;
  const planners = plannersOf(await context.readFleet());
  if (!planners.some(({ takesWork, hasModel }) => takesWork && hasModel === true)) {
    return without(
      "NONE",
      "No model was asked: no planner with a model lives. A planner has one by its setting MODEL.",
    );
  }
  const digest = canonicalDigest(tools.map((tool) => ({ ...tool })));
  const limits = modelLimits ? { modelLimits } : {};
  const names = planners.map(({ name }) => name);
  const asked = await store.askContracts(server, { tenant, digest, planners: names, ...limits });
  if (!asked) throw new ToolServerNotFoundError(server);
  context.releaseSlot?.();
  const startedAt = performance.now();
  let aliveAt = startedAt;
  for (;;) {
    // The workers first: a planner that stops stores its answer before it is gone.
    const live = plannersOf(await context.readFleet());
    const { answer, takenBy } = (await store.readContractAsk(server)) ?? asked;
    if (answer) return readAnswer(answer, tools.length);
    const now = performance.now();
    if (takenBy === null || live.some(({ name }) => name === takenBy)) aliveAt = now;
    else if (now - aliveAt > NOT_YET_SEEN_MS)
      return without("FAILED", "The planner that asked the model has died; ask again.");
    if (signal?.aborted || now - startedAt >= waitMs)
      return without("PENDING", "The model has not answered yet; ask again to wait for the same answer.");
    await delay(READ_EVERY_MS);
  }
}

const plannersOf = ({ workers }: Fleet) => workers.filter(({ kind }) => kind === "planner");

function readAnswer({ model, asked, unusable, error, proposals }: ContractAnswer, of: number): Asked {
  const about =
    asked === 0
      ? `${model} was not asked about any of ${countText(of, "tool")}`
      : `${model} was asked about ${asked} of ${countText(of, "tool")}`;
  const dropped =
    unusable === 0
      ? ""
      : ` ${countText(unusable, "proposal")} of it could not be used and ${unusable === 1 ? "was" : "were"} left out.`;
  // Written by a planner, which has checked each of them.
  const read = parseExactJson(proposals) as unknown as ContractProposal[];
  return error
    ? { state: "FAILED", note: `${about}: ${error.message} (${error.code}).${dropped}`, proposals: read }
    : {
        state: "ANSWERED",
        note: `${about} and proposed ${countText(read.length, "field")}.${dropped}`,
        proposals: read,
      };
}
