import { setTimeout as delay } from "node:timers/promises";
import { type CallToolResult, fromJsonSchema, McpServer, ProtocolError } from "@modelcontextprotocol/server";
import { isJsonObject, type JsonObject, type JsonValue } from "@planwright/plan";
import { z } from "zod";
import {
  type Behaviour,
  COUNTING_TOOLS,
  type CountingTool,
  createScript,
  type Script,
} from "./counting-tools.ts";
import { type CallLog, type EffectLedger, type LedgerEntry, NO_CALL_LOG } from "./effect-ledger.ts";

/** Statistics of one tool. */
export interface ToolStats {
  /** All calls, with any end. */
  calls: number;
  effects: number;
  /** Calls that got the result of an earlier call with the same key. */
  repeats: number;
  /** Calls that the caller cancelled while they waited. */
  cancelled: number;
  active: number;
  maxConcurrency: number;
}

/** One call as it was received. */
interface IncomingCall {
  tool: string;
  arguments: JsonObject;
  meta: JsonObject;
  signal: AbortSignal;
  /** Cuts the connection of the answer; absent over stdio. */
  cut?: (() => void) | undefined;
}

/** The answer to a call. */
type CallAnswer =
  | { type: "result"; output: JsonObject }
  | { type: "tool-error"; message: string }
  | { type: "protocol-error"; code: number }
  | { type: "silence" };

/** The tools, independent of the transport. */
export interface CountingCore {
  readonly script: Script;
  readonly tools: readonly CountingTool[];
  stats(): Record<string, ToolStats>;
  /** Plays the behaviour; without one acts as usual. */
  call(call: IncomingCall, behaviour: Behaviour | undefined): Promise<CallAnswer>;
  count(tool: string): ToolStats;
}

const KEY_META = "dev.planwright/idempotencyKey";
const SILENCE: CallAnswer = { type: "silence" };

/** Options of {@link createCountingCore}. */
interface CountingCoreOptions {
  /** Additional tools. */
  tools?: readonly CountingTool[] | undefined;
  /** True: it has only the tools of `tools`. */
  isOwnToolsOnly?: boolean | undefined;
  /** Default: no log. */
  log?: CallLog;
}

/** Creates the core, which counts calls and makes effects. */
export function createCountingCore(
  ledger: EffectLedger,
  { tools: more = [], isOwnToolsOnly = false, log = NO_CALL_LOG }: CountingCoreOptions = {},
): CountingCore {
  const tools = [...(isOwnToolsOnly ? [] : COUNTING_TOOLS), ...more];
  const script = createScript();
  const stats = new Map<string, ToolStats>();
  const toolOf = new Map(tools.map((tool) => [tool.name, tool]));
  const byKey = new Map<string, Promise<LedgerEntry>>();
  const byReference = new Map<string, LedgerEntry>();
  for (const entry of ledger.found) remember(entry);

  function remember(entry: LedgerEntry): void {
    if (entry.key !== null) byKey.set(sameCall(entry, entry.key), Promise.resolve(entry));
    const { reference } = entry.arguments;
    if (typeof reference === "string") byReference.set(reference, entry);
  }

  /** Identifies calls with the same effect: by their key, in a batch by key and item. */
  function sameCall(
    { tool, arguments: args }: Pick<IncomingCall, "tool" | "arguments">,
    key: string,
  ): string {
    return `${tool} ${key}${toolOf.get(tool)?.batch === undefined ? "" : JSON.stringify(args)}`;
  }

  function count(tool: string): ToolStats {
    const known = stats.get(tool);
    if (known !== undefined) return known;
    const created = { calls: 0, effects: 0, repeats: 0, cancelled: 0, active: 0, maxConcurrency: 0 };
    stats.set(tool, created);
    return created;
  }

  /** Makes the effect of a call, unless the call has none or its key was used before. */
  async function makeEffect({ tool, arguments: args, meta }: IncomingCall): Promise<JsonObject> {
    const effect = toolOf.get(tool)?.effect ?? "never";
    const value: JsonValue = args["value"] ?? null;
    if (tool === "find_effect") return findEffect(args["reference"]);
    if (effect === "never") return { tool, value };
    const key = keyOf(meta);
    const append = async () => {
      const entry = await ledger.append({ tool, key, meta, arguments: args });
      count(tool).effects += 1;
      if (typeof args["reference"] === "string") byReference.set(args["reference"], entry);
      return entry;
    };
    if (effect === "always" || key === null) return resultOf(await append());
    const same = sameCall({ tool, arguments: args }, key);
    const first = byKey.get(same);
    if (first !== undefined) {
      count(tool).repeats += 1;
      return resultOf(await first);
    }
    const entry = append();
    byKey.set(same, entry);
    return resultOf(await entry);
  }

  /**
   * Acts for the call, or for each item of a batch.
   * @param failing - indexes of items that fail, unless their effect was made before
   */
  async function serve(call: IncomingCall, failing: readonly number[] = []): Promise<JsonObject> {
    const form = toolOf.get(call.tool)?.batch;
    const { items } = call.arguments;
    if (form === undefined || !Array.isArray(items)) return await makeEffect(call);
    const key = keyOf(call.meta);
    const each = items.filter(isJsonObject).map(async (item, index): Promise<ItemResult> => {
      const one = { ...call, arguments: item };
      const isKnown = key !== null && byKey.has(sameCall(one, key));
      if (failing.includes(index) && !isKnown) return { error: { code: "REFUSED", message: "not this one" } };
      return { data: await makeEffect(one) };
    });
    return batchAnswer(form, await Promise.all(each));
  }

  function findEffect(reference: JsonValue | undefined): JsonObject {
    const entry = typeof reference === "string" ? byReference.get(reference) : undefined;
    return entry === undefined ? { found: false } : { found: true, result: resultOf(entry) };
  }

  async function act(call: IncomingCall, behaviour: Behaviour | undefined): Promise<CallAnswer> {
    const latencyMs = latencyOf(call.arguments);
    if (latencyMs !== undefined && !(await wait(call, latencyMs))) return SILENCE;
    switch (behaviour?.type) {
      case undefined: {
        const output = await serve(call);
        const { answerAfterMs } = call.arguments;
        if (typeof answerAfterMs === "number" && !(await wait(call, answerAfterMs))) return SILENCE;
        return { type: "result", output };
      }
      case "odd-answer":
        return { type: "result", output: await serve(call) };
      case "latency":
        if (!(await wait(call, behaviour.ms))) return SILENCE;
        return { type: "result", output: await serve(call) };
      case "hang":
        if (behaviour.effect) await serve(call);
        await wait(call, undefined);
        return SILENCE;
      case "lose-answer":
        await serve(call);
        call.cut?.();
        return SILENCE;
      case "reset":
        call.cut?.();
        return SILENCE;
      case "tool-error":
        return { type: "tool-error", message: behaviour.message };
      case "error-after-effect":
        await serve(call);
        return { type: "tool-error", message: behaviour.message };
      case "items-fail":
        return { type: "result", output: await serve(call, behaviour.places) };
      case "protocol-error":
        return { type: "protocol-error", code: behaviour.code };
      case "huge":
        return { type: "result", output: { ...(await serve(call)), ...hugeOutput(behaviour) } };
      case "crash":
        await serve(call);
        process.kill(process.pid, "SIGKILL");
        return SILENCE;
      case "status":
      case "garbage":
        return SILENCE;
    }
  }

  /** Waits; without a time until the caller disconnects. False when the caller disconnected. */
  async function wait({ tool, signal }: IncomingCall, ms: number | undefined): Promise<boolean> {
    await delay(ms ?? 2_147_483_647, undefined, { signal, ref: false }).catch(() => undefined);
    if (signal.aborted) count(tool).cancelled += 1;
    return !signal.aborted;
  }

  return {
    script,
    tools,
    count,
    stats: () => structuredClone(Object.fromEntries(stats)),
    call: async (call, behaviour) => {
      const counted = count(call.tool);
      counted.calls += 1;
      counted.active += 1;
      counted.maxConcurrency = Math.max(counted.maxConcurrency, counted.active);
      const ended = log.received({ tool: call.tool, key: keyOf(call.meta), arguments: call.arguments });
      try {
        const answer = await act(call, behaviour);
        if (answer.type === "result") ended("result", answer.output);
        else ended(answer.type === "silence" ? "nothing" : "error");
        return answer;
      } finally {
        counted.active -= 1;
      }
    },
  };
}

/** The answer of a batch tool for one item. */
type ItemResult = { data: JsonObject } | { error: { code: string; message: string } };

function batchAnswer(form: "envelope" | "list", results: readonly ItemResult[]): JsonObject {
  if (form === "list") return { values: results.map((one) => ("data" in one ? one.data : { ...one })) };
  const ok = results.filter((one) => "data" in one).length;
  return {
    results: results.map((one, index) => ({ index, status: "data" in one ? "ok" : "error", ...one })),
    summary: { ok, error: results.length - ok },
  };
}

/** The idempotency key in the `_meta` of a call; null without one. */
export function keyOf(meta: JsonObject): string | null {
  const key = meta[KEY_META];
  return typeof key === "string" ? key : null;
}

/** The latency of a call; for a batch that of its first item. */
function latencyOf(args: JsonObject): number | undefined {
  const { latencyMs, items } = args;
  if (typeof latencyMs === "number") return latencyMs;
  const [first] = Array.isArray(items) ? items : [];
  return isJsonObject(first) ? latencyOf(first) : undefined;
}

function resultOf({ tool, effect, arguments: args }: LedgerEntry): JsonObject {
  return { tool, effect, value: args["value"] ?? null };
}

function hugeOutput({ bytes, fields, items }: Extract<Behaviour, { type: "huge" }>): JsonObject {
  const output: JsonObject = { text: "x".repeat(bytes) };
  if (fields > 0) {
    const entries = Array.from({ length: fields }, (_, index): [string, number] => [`f${index}`, index % 10]);
    output["fields"] = Object.fromEntries(entries);
  }
  if (items > 0) output["items"] = Array.from({ length: items }, (_, id) => ({ id, text: "y".repeat(80) }));
  return output;
}

/**
 * Field of `_meta` by which the HTTP layer assigns a call to its connection. It is removed before the ledger.
 */
export const EXCHANGE_META = "dev.planwright.testing/exchange";

/** Facts of the transport about a call. */
export interface Exchange {
  /** Already taken from the script; undefined for a usual call. */
  behaviour: Behaviour | undefined;
  cut: () => void;
}

/**
 * What the tools declare. Plans in stored databases are pinned to it, so it must not change: the argument
 * `answerAfterMs`, the time from the effect to the answer in milliseconds, is not in it.
 */
const InputSchema = z.looseObject({
  value: z.unknown().optional().describe("Returned as it is"),
  reference: z.string().max(500).optional().describe("Name of the effect, for find_effect"),
  latencyMs: z
    .number()
    .int()
    .min(0)
    .max(600_000)
    .optional()
    .describe("How long the call takes, in milliseconds"),
});
const OutputSchema = z.looseObject({});

/** An MCP server with the counting tools; one for each connection or request. */
export function createCountingMcpServer(
  core: CountingCore,
  exchangeOf: (id: unknown) => Exchange | undefined = () => undefined,
): McpServer {
  const server = new McpServer(
    { name: "counting-tools", version: "0.1.0" },
    { capabilities: { tools: { listChanged: false } } },
  );
  for (const { name, description, annotations, contract, inputSchema } of core.tools) {
    server.registerTool(
      name,
      {
        description,
        annotations,
        inputSchema: inputSchema ? fromJsonSchema(inputSchema) : InputSchema,
        outputSchema: OutputSchema,
        _meta: { "x-orchestration": contract },
      },
      async (input, context) => {
        const { [EXCHANGE_META]: id, ...meta } = context.mcpReq._meta ?? {};
        const exchange = exchangeOf(id);
        const { signal } = context.mcpReq;
        const call = { tool: name, arguments: input as JsonObject, meta: meta as JsonObject, signal };
        const behaviour = exchange === undefined ? core.script.take(name) : exchange.behaviour;
        return await toResult(await core.call({ ...call, cut: exchange?.cut }, behaviour));
      },
    );
  }
  return server;
}

function toResult(answer: CallAnswer): CallToolResult | Promise<never> {
  switch (answer.type) {
    case "result":
      return {
        structuredContent: answer.output,
        content: [{ type: "text", text: JSON.stringify(answer.output) }],
      };
    case "tool-error":
      return { isError: true, content: [{ type: "text", text: answer.message }] };
    case "protocol-error":
      throw new ProtocolError(answer.code, "scripted protocol error");
    case "silence":
      return new Promise<never>(() => {});
  }
}
