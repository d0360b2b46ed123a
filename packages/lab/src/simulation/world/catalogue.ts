import {
  type Classed,
  classedBy,
  type EffectClass,
  type JsonObject,
  type ToolDescriptor,
  toolContract,
  toolDigest,
} from "@planwright/plan";
import type { ToolDocument } from "@planwright/store";
import type { ToolCall } from "@planwright/tools";
import { EPOCH_MS } from "./processes.ts";

/** The tenant of all plans of a world. */
export const TENANT = "t1";

function tool(name: string, contract: JsonObject): ToolDescriptor {
  const declared = {
    mode: "parallel-safe",
    backoff: { max_attempts: 3, initial_ms: 200, max_ms: 8_000 },
    ...contract,
  };
  return { name, server: "simulated", trusted: true, _meta: { "x-orchestration": declared } };
}

const read = { side_effects: false };
const keyed = { side_effects: true, idempotency: "key" };
const plain = { side_effects: true, idempotency: "none" };
const lookup = { tool: "lookup", arguments: { unit: "<<arguments.unit>>" } };

/** Maximum time in which a call arrives, in milliseconds. The contract of "looked_up" promises it. */
export const SETTLE_MS = 1_500;

/** The tools of every simulated world: all effect classes, and every limit on concurrent calls. */
export const CATALOGUE: readonly ToolDescriptor[] = [
  tool("read", read),
  tool("read_in_batches", { ...read, batch: { param: "items", max: 4 } }),
  tool("natural", { side_effects: true, idempotency: "natural" }),
  tool("keyed", keyed),
  tool("keyed: two at once (größe)", { ...keyed, mode: "fan-out-bounded", max_concurrency: 2 }),
  tool("keyed_in_batches", { ...keyed, batch: { param: "items", max: 4 } }),
  tool("keyed_in_envelopes", {
    ...keyed,
    batch: { param: "items", max: 3 },
    error_propagation: "partial-success",
  }),
  tool("keyed_barrier", { ...keyed, barrier: true }),
  tool("looked_up", { ...plain, lookup: { ...lookup, settle_ms: SETTLE_MS } }),
  tool("looked_up_late", { ...plain, lookup }),
  tool("plain", plain),
  tool("plain_alone", { ...plain, mode: "sequential-only" }),
  tool("plain_guarded", { ...plain, requires_approval: true }),
  tool("deadly", keyed),
  tool("lookup", read),
];

/** The catalogue as an executor has published it. */
export const TOOL_DOCUMENTS: readonly ToolDocument[] = CATALOGUE.map((descriptor) => ({
  _id: `${descriptor.server}/${descriptor.name}`,
  server: descriptor.server ?? "",
  descriptor,
  digest: toolDigest(descriptor),
  updatedAt: new Date(EPOCH_MS),
}));

/** Facts about a tool from its contract. */
export interface WorldTool extends Classed<EffectClass> {
  hasSideEffects: boolean;
  /** Maximum of running calls of one run. */
  limit: number;
  isBarrier: boolean;
  needsApproval: boolean;
  hasBatches: boolean;
  /** True when the first failed item stops a list of this tool by default. */
  stopsLists: boolean;
}

/** Facts by name of the tool. */
export const TOOL_FACTS: ReadonlyMap<string, WorldTool> = new Map(
  CATALOGUE.map((descriptor): [string, WorldTool] => {
    const { contract } = toolContract(descriptor);
    const { mode, maxConcurrency = Number.POSITIVE_INFINITY, barrier, requiresApproval } = contract;
    const stopsLists = contract.errorPropagation === "fail-fast";
    const limit = mode === "sequential-only" ? 1 : maxConcurrency;
    const needsApproval = requiresApproval;
    const hasSideEffects = contract.sideEffects;
    const hasBatches = contract.batch !== undefined;
    const facts = { hasSideEffects, limit, isBarrier: barrier, needsApproval, hasBatches, stopsLists };
    return [descriptor.name, { ...classedBy(contract), ...facts }];
  }),
);

/** The tool that answers batches with a forEach envelope. */
export const ENVELOPE_TOOL = "keyed_in_envelopes";
/** The parameter of all tools with batches. */
export const BATCH_PARAM = "items";
/** Name of the lookup tool. */
export const LOOKUP_TOOL = "lookup";
/** The tool whose calls kill the caller. */
export const DEADLY_TOOL = "deadly";

/** Only large arguments are bytes, and those of simulated calls are small. */
function objectOf({ arguments: args }: Pick<ToolCall, "arguments">): JsonObject {
  return args instanceof Uint8Array ? {} : args;
}

/** The arguments of each unit of a call, as text, in the order of their names. */
export function argumentsOfEach(call: Pick<ToolCall, "arguments">): string[] {
  const args = objectOf(call);
  const { items } = args;
  return (Array.isArray(items) ? items : [args]).map((one) => JSON.stringify(one));
}

/** Names of the units of a call, read from its arguments: one name, or those of a batch in order. */
export function unitNamesOf(call: Pick<ToolCall, "arguments">): string[] {
  const { items, unit } = objectOf(call);
  const list = Array.isArray(items) ? items : [{ unit: unit ?? null }];
  return list.flatMap((one) => {
    const name = typeof one === "object" && one !== null && !Array.isArray(one) ? one["unit"] : null;
    return typeof name === "string" ? [name] : [];
  });
}
