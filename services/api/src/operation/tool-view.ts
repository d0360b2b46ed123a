import {
  bareName,
  type ContractReport,
  contractReport,
  isJsonObject,
  type JsonObject,
  type LeftOutTool,
  schemaOfShape,
  seenIn,
  type ToolAnnotations,
  type ToolContract,
  type ToolDescriptor,
  toolContract,
} from "@planwright/plan";
import {
  type ToolCallStats,
  type ToolListing,
  type ToolServerDocument,
  toolCallsSince,
} from "@planwright/store";
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
}

const STATES = { connected: "CONNECTED", connecting: "CONNECTING", unreachable: "UNREACHABLE" } as const;

/**
 * The public fields of a tool server. Pure.
 * @param mayReadTexts - true for operators: the output of a server may contain more than its author intended
 */
export function toServerView(
  { server, leftOut = [], leftOutCount = 0, ...document }: ToolServerDocument,
  mayReadTexts: boolean,
): ServerView {
  const { state, tools, error, stderrTail, since, nextAttemptAt } = document;
  return {
    name: server,
    state: STATES[state],
    tools,
    leftOut,
    leftOutCount,
    error,
    stderrTail: mayReadTexts ? stderrTail : null,
    since,
    nextAttemptAt,
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
