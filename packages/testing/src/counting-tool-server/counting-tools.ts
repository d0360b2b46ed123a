import type { ContractDeclaration, JsonObject, ToolAnnotations } from "@planwright/plan";
import { z } from "zod";

/** A tool of the counting server. */
export interface CountingTool {
  name: string;
  description: string;
  annotations: ToolAnnotations;
  contract: ContractDeclaration;
  /** `always`: each call has an effect; `per-key`: the first call of each key; `never`: no call. */
  effect: "always" | "per-key" | "never";
  /**
   * Default: any arguments, with the meaning of `value`, `reference` and `latencyMs` as in {@link
   * COUNTING_TOOLS}.
   */
  inputSchema?: JsonObject | undefined;
  /**
   * The form of the answer for the elements of the argument `items`: the envelope of a forEach, or a list of
   * values and errors.
   */
  batch?: "envelope" | "list" | undefined;
}

const READ: ToolAnnotations = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };
const WRITE: ToolAnnotations = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };

/** One tool for each effect class, and some without effects. */
export const COUNTING_TOOLS: readonly CountingTool[] = [
  {
    name: "noop",
    description: "Do nothing and return the value given. For benchmarks.",
    annotations: READ,
    contract: { mode: "parallel-safe", side_effects: false, idempotency: "natural" },
    effect: "never",
  },
  {
    name: "read_value",
    description: "Read: return the value given. Each call is counted, none is an effect (class R).",
    annotations: READ,
    contract: { mode: "parallel-safe", side_effects: false, idempotency: "natural" },
    effect: "never",
  },
  {
    name: "set_value",
    description: "Set a value: the same call again changes nothing more (class R).",
    annotations: { ...WRITE, idempotentHint: true },
    contract: { mode: "parallel-safe", side_effects: true, idempotency: "natural" },
    effect: "always",
  },
  {
    name: "keyed_effect",
    description: "Make an effect, once for each idempotency key (class K).",
    annotations: WRITE,
    contract: { mode: "parallel-safe", side_effects: true, idempotency: "key" },
    effect: "per-key",
  },
  {
    name: "looked_up_effect",
    description: "Make an effect that find_effect can find by its reference (class V).",
    annotations: WRITE,
    contract: {
      mode: "parallel-safe",
      side_effects: true,
      idempotency: "none",
      lookup: { tool: "find_effect", arguments: { reference: "<<arguments.reference>>" } },
    },
    effect: "always",
  },
  {
    name: "find_effect",
    description: "Say whether an effect with this reference happened, and return its result.",
    annotations: READ,
    contract: { mode: "parallel-safe", side_effects: false, idempotency: "natural" },
    effect: "never",
  },
  {
    name: "plain_effect",
    description: "Make an effect each time it is called; no tool can find out whether it happened (class U).",
    annotations: WRITE,
    contract: { mode: "parallel-safe", side_effects: true, idempotency: "none" },
    effect: "always",
  },
  {
    name: "sequential_effect",
    description: "Make an effect, once for each idempotency key; never two calls at once.",
    annotations: WRITE,
    contract: { mode: "sequential-only", side_effects: true, idempotency: "key" },
    effect: "per-key",
  },
  {
    name: "limited_read",
    description: "Return the value given; at most five calls at once, whichever process calls.",
    annotations: READ,
    contract: {
      mode: "fan-out-bounded",
      max_concurrency: 5,
      scope: "global",
      side_effects: false,
      idempotency: "natural",
    },
    effect: "never",
  },
  {
    name: "rated_effect",
    description:
      "Make an effect, once for each idempotency key; at most 20 calls a second, whichever process calls.",
    annotations: WRITE,
    contract: {
      mode: "parallel-safe",
      rate_limit: { max: 20, per_ms: 1_000 },
      side_effects: true,
      idempotency: "key",
    },
    effect: "per-key",
  },
];

/**
 * Tools for the items of lists: the same classes as separate tools with separate scripts, and two that take
 * several items in one call.
 */
export const LIST_TOOLS: readonly CountingTool[] = [
  {
    name: "item_read",
    description: "Read for one item: return the value given (class R).",
    annotations: READ,
    contract: { mode: "parallel-safe", side_effects: false, idempotency: "natural" },
    effect: "never",
  },
  {
    name: "item_keyed",
    description: "Make an effect for one item, once for each idempotency key (class K).",
    annotations: WRITE,
    contract: { mode: "parallel-safe", side_effects: true, idempotency: "key" },
    effect: "per-key",
  },
  {
    name: "item_plain",
    description: "Make an effect for one item each time it is called (class U).",
    annotations: WRITE,
    contract: { mode: "parallel-safe", side_effects: true, idempotency: "none" },
    effect: "always",
  },
  {
    name: "batch_read",
    description: "Read for many items: a list of the values given, or of errors (class R).",
    annotations: READ,
    contract: {
      mode: "parallel-safe",
      side_effects: false,
      idempotency: "natural",
      batch: { param: "items", max: 4, result_path: "values" },
    },
    effect: "never",
    batch: "list",
  },
  {
    name: "batch_keyed",
    description: "Make an effect for each of many items, once for each idempotency key and item (class K).",
    annotations: WRITE,
    contract: {
      mode: "parallel-safe",
      side_effects: true,
      idempotency: "key",
      error_propagation: "partial-success",
      batch: { param: "items", max: 4 },
    },
    effect: "per-key",
    batch: "envelope",
  },
];

/**
 * Behaviour of a scripted call. Over stdio, `protocol-error` becomes a `tool-error`, and behaviours of HTTP
 * become a `hang`.
 */
const BehaviourSchema = z.discriminatedUnion("type", [
  /** Waits, then continues as usual. */
  z.object({ type: z.literal("latency"), ms: z.number().int().min(0).max(600_000) }),
  /** Never answers; `effect` says whether the effect happens. */
  z.object({ type: z.literal("hang"), effect: z.boolean().default(false) }),
  /** The effect happens, then the connection is cut instead of an answer. */
  z.object({ type: z.literal("lose-answer") }),
  /** The connection is cut before anything happens. */
  z.object({ type: z.literal("reset") }),
  /** The tool answers with an error (`isError`); no effect. */
  z.object({ type: z.literal("tool-error"), message: z.string().max(10_000).default("the tool failed") }),
  /** The effect happens, then the tool answers with an error. */
  z.object({ type: z.literal("error-after-effect"), message: z.string().max(10_000).default("failed late") }),
  /**
   * A batch tool answers with an error and no effect for the items with these indexes; other tools act as
   * usual.
   */
  z.object({
    type: z.literal("items-fail"),
    places: z.array(z.number().int().min(0).max(10_000)).max(10_000),
  }),
  /** A JSON-RPC error instead of a result; no effect. */
  z.object({ type: z.literal("protocol-error"), code: z.number().int().default(-32_603) }),
  /** An HTTP status instead of an answer; no effect. 429 and 503 may have a Retry-After. */
  z.object({
    type: z.literal("status"),
    status: z.number().int().min(400).max(599),
    retryAfterSeconds: z.number().int().min(0).max(86_400).optional(),
  }),
  /**
   * The effect happens, and the answer contains a text of this size, an object with so many fields, and a list
   * of so many objects `{id, text}` of 100 bytes.
   */
  z.object({
    type: z.literal("huge"),
    bytes: z.number().int().min(1).max(268_435_456),
    fields: z.number().int().min(0).max(1_000_000).default(0),
    items: z.number().int().min(0).max(1_000_000).default(0),
  }),
  /** Status 200 with a body that is not JSON; no effect. */
  z.object({ type: z.literal("garbage") }),
  /**
   * The effect happens, and the answer has a form that the protocol does not declare: null where a field is
   * absent, the output instead of a result, or its JSON text as the content. Over stdio a usual answer.
   */
  z.object({ type: z.literal("odd-answer"), form: z.enum(["nulls", "bare", "text"]) }),
  /** The effect happens, then the process ends. */
  z.object({ type: z.literal("crash") }),
]);
/** A behaviour with its defaults. */
export type Behaviour = z.output<typeof BehaviourSchema>;
/** A behaviour as a test writes it. */
export type BehaviourInput = z.input<typeof BehaviourSchema>;

/** Behaviours by tool. Each call takes the next one; calls after the last one are usual. */
export const ScriptSchema = z.record(z.string(), z.array(BehaviourSchema).max(100_000));
export type ScriptInput = z.input<typeof ScriptSchema>;

/** The behaviours of the next calls. */
export interface Script {
  add(script: ScriptInput): void;
  take(tool: string): Behaviour | undefined;
}

/** An empty script. */
export function createScript(): Script {
  const left = new Map<string, Behaviour[]>();
  return {
    add: (script) => {
      for (const [tool, behaviours] of Object.entries(ScriptSchema.parse(script))) {
        left.set(tool, [...(left.get(tool) ?? []), ...behaviours]);
      }
    },
    take: (tool) => left.get(tool)?.shift(),
  };
}
