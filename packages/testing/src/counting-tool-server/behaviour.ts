import { z } from "zod";

/**
 * Behaviour of a scripted call. Over stdio, `protocol-error` becomes a `tool-error`, and behaviours of HTTP
 * become a `hang`.
 */
export const BehaviourSchema = z.discriminatedUnion("type", [
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
