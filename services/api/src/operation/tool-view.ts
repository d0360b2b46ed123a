import { setTimeout as delay } from "node:timers/promises";
import {
  bareName,
  type ContractProposal,
  type ContractReport,
  canonicalDigest,
  contractReport,
  countText,
  isJsonObject,
  type JsonObject,
  type LeftOutTool,
  parseExactJson,
  type SuggestedContract,
  schemaOfShape,
  seenIn,
  suggestForServer,
  type ToolAnnotations,
  type ToolContract,
  type ToolDescriptor,
  toolContract,
} from "@planwright/plan";
import {
  type ContractAnswer,
  type Fleet,
  type ServerReload,
  type ShownSignIn,
  type ToolCallStats,
  type ToolListing,
  type ToolServerDocument,
  toolCallsSince,
} from "@planwright/store";
import { parseWait, type WaitInput } from "../arguments/parse-options.ts";
import { NoExecutorError, ToolServerNotFoundError } from "../errors/api-error.ts";
import type { GraphqlContext } from "./context.ts";

/** A tool for clients. */
export interface ToolView {
  name: string;
  server: string;
  /** The name on the server. */
  ownName: string;
  title: string | null;
  description: string;
  category: string;
  inputSchema: JsonObject;
  /** The same as `inputSchema`. */
  parameters: JsonObject;
  outputSchema: JsonObject | null;
  observedOutput: { outputs: number; schema: JsonObject } | null;
  annotations: ToolAnnotations | null;
  contract: ToolContract;
  /** Computed only if it is selected. */
  contractReport: () => ContractReport;
}

const MAX_CATEGORY_LENGTH = 100;

/**
 * The public fields of a descriptor. Of the operator's configuration it shows only whether a server is
 * trusted, and which fields the operator set. Pure.
 */
export function toToolView(tool: ToolDescriptor): ToolView {
  const server = tool.server ?? "";
  const inputSchema = tool.inputSchema ?? { type: "object" };
  return {
    name: tool.name,
    server,
    ownName: bareName(tool),
    title: tool.title ?? tool.annotations?.title ?? null,
    description: tool.description ?? "",
    category: declaredCategory(tool) ?? (server === "" ? "general" : server),
    inputSchema,
    parameters: inputSchema,
    outputSchema: tool.outputSchema ?? null,
    observedOutput: observedView(tool.observedOutput),
    annotations: tool.annotations ?? null,
    contract: toolContract(tool).contract,
    contractReport: () => contractReport(tool),
  };
}

function observedView(shape: ToolDescriptor["observedOutput"]): ToolView["observedOutput"] {
  return shape ? { outputs: seenIn(shape), schema: schemaOfShape(shape) } : null;
}

/**
 * The first valid text of `category` in `_meta`, at the top level of the descriptor, or in the contract
 * (`x-orchestration`).
 */
function declaredCategory(tool: ToolDescriptor): string | undefined {
  const contracts = [tool._meta, tool, tool.inputSchema].map((one) => fieldOf(one, "x-orchestration"));
  return [tool._meta, tool, ...contracts].map((one) => fieldOf(one, "category")).find(isCategory);
}

function fieldOf(value: unknown, name: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function isCategory(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= MAX_CATEGORY_LENGTH;
}

/** A tool server for clients. */
interface ServerView {
  name: string;
  state: Uppercase<ToolServerDocument["state"]>;
  tools: number;
  leftOut: LeftOutTool[];
  leftOutCount: number;
  error: string | null;
  stderrTail: string | null;
  since: Date;
  nextAttemptAt: Date | null;
  signIn: SignInView | null;
}

/** The sign-in at a tool server for clients. */
interface SignInView {
  isNeeded: boolean;
  url: string | null;
  since: Date | null;
  expiresAt: Date | null;
  error: string | null;
}

const STATES = { connected: "CONNECTED", connecting: "CONNECTING", unreachable: "UNREACHABLE" } as const;

/**
 * The public fields of a tool server. Pure.
 * @param signIn - the sign-in at the server, if it has one
 * @param may - `readTexts`: the output of a server may contain more than its author intended; `signIn`: all plans use
 *   the account that signs in
 */
export function toServerView(
  { server, leftOut = [], leftOutCount = 0, ...document }: ToolServerDocument,
  signIn: ShownSignIn | undefined,
  may: { readTexts: boolean; signIn: boolean },
): ServerView {
  const { state, tools, error, stderrTail, since, nextAttemptAt } = document;
  return {
    name: server,
    state: STATES[state],
    tools,
    leftOut,
    leftOutCount,
    error,
    stderrTail: may.readTexts ? stderrTail : null,
    since,
    nextAttemptAt,
    signIn: signIn
      ? {
          isNeeded: signIn.asked !== null,
          url: may.signIn ? (signIn.asked?.authorizationUrl ?? null) : null,
          since: signIn.asked?.since ?? null,
          expiresAt: signIn.tokensEndAt,
          error: signIn.error,
        }
      : null,
  };
}

/** Statistics of the calls of a tool, for clients. */
interface ToolCallsView extends Pick<ToolCallStats, "failures" | "p50Ms" | "p99Ms" | "errors"> {
  since: Date;
  count: number;
  lastAt: Date | null;
}

/** The name of a tool in the store. */
type Named = Pick<ToolView, "server" | "ownName">;
/** Dependencies of the reads. */
type Reading = Pick<GraphqlContext, "store" | "tenant" | "reads" | "nowMs">;

/** Most codes of failures that are shown. */
const MAX_CODES = 5;

/** When a tool was listed; undefined for a tool that is no longer in the catalogue. */
export async function readToolListing(
  tool: Named,
  { store, reads }: Reading,
): Promise<ToolListing | undefined> {
  const listings = await reads.once("tool listings", async () => byName(await store.listToolListings()));
  return listings.get(nameOf(tool.server, tool.ownName));
}

/** Statistics of the calls of a tool by the caller's tenant; zeros without a call. */
export async function readToolCalls(
  tool: Named,
  { store, tenant, reads, nowMs }: Reading,
): Promise<ToolCallsView> {
  const since = toolCallsSince(nowMs);
  const stats = await reads.once("tool calls", async () => byName(await store.toolCallStats(tenant, since)));
  const found = stats.get(nameOf(tool.server, tool.ownName));
  if (!found) return { since, count: 0, failures: 0, p50Ms: null, p99Ms: null, errors: [], lastAt: null };
  const { calls: count, failures, p50Ms, p99Ms, errors, lastAt } = found;
  return { since, count, failures, p50Ms, p99Ms, errors: errors.slice(0, MAX_CODES), lastAt };
}

function byName<T extends { server: string; tool: string }>(all: readonly T[]): Map<string, T> {
  return new Map(all.map((one) => [nameOf(one.server, one.tool), one]));
}

function nameOf(server: string, tool: string): string {
  return JSON.stringify([server, tool]);
}

/** Arguments of the mutation reloadToolServer. */
export interface ReloadInput extends WaitInput {
  name: string;
}

/** How one executor reloaded a server. */
export interface ExecutorReloadView extends Pick<ServerReload, "executor" | "reason" | "stderrTail"> {
  outcome: Uppercase<ServerReload["outcome"]> | "PENDING";
}

/** Between two readings of what was asked for, in milliseconds. */
const READ_EVERY_MS = 200;
const OUTCOMES = { reloaded: "RELOADED", kept: "KEPT", unknown: "UNKNOWN" } as const;

/**
 * Asks every executor to connect to a tool server anew, and waits for them.
 * @throws {BadInputError | ToolServerNotFoundError | NoExecutorError}
 */
export async function reloadToolServer(
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
      .map(({ name: executor }) => toReloadView(executor, reloads, asked.askedAt));
    const isOver = executors.every(({ outcome }) => outcome !== "PENDING");
    if (isOver || signal?.aborted || performance.now() >= endsAt) return { name, executors };
    await delay(READ_EVERY_MS);
  }
}

function executorsOf({ workers }: Fleet): Fleet["workers"] {
  return workers.filter(({ kind, takesWork }) => kind === "executor" && takesWork);
}

function toReloadView(executor: string, reloads: readonly ServerReload[], askedAt: Date): ExecutorReloadView {
  const done = reloads.find((each) => each.executor === executor && each.askedAt >= askedAt);
  if (!done) return { executor, outcome: "PENDING", reason: null, stderrTail: null };
  const { outcome, reason, stderrTail } = done;
  return { executor, outcome: OUTCOMES[outcome], reason, stderrTail };
}

/** Arguments of the mutation suggestContracts. */
export interface SuggestInput extends WaitInput {
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
export async function suggestContracts(
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
