import { z } from "zod";
import { stringifyExactJson } from "../json/exact-json.ts";
import {
  type JsonObject,
  JsonObjectSchema,
  type JsonValue,
  JsonValueSchema,
  jsonSchemaOf,
  type PathSegment,
} from "../json/json.ts";
import { FailureModeSchema, LimitsSchema, PolicySchema } from "./policy.ts";

/** The validated fields of a step that mean the same in every dialect. */
type StepOptions = Pick<CallStep, "retry" | "timeoutMs" | "onError" | "approval">;

/** A reference in a step, with a known root. */
export interface DraftReference {
  readonly text: string;
  /** Keys below the step. */
  readonly keys: readonly (string | number)[];
  /** True when the text is only this reference. */
  readonly isWhole: boolean;
  /** A step id, or a name inside the forEach. */
  readonly source: { readonly type: "step" | "scope"; readonly name: string };
  readonly path: readonly PathSegment[];
}

/**
 * A step while its document is read, between a dialect and the canonical form. Its fields change during
 * reading.
 */
export interface DraftStep {
  /** Position in the plan. */
  index: number;
  /** Position in the document, from 0; negative for an inserted step. */
  position: number;
  id: string;
  /** False when the id was derived from the tool's name. */
  hasOwnId: boolean;
  /** The written id, when it is not valid in a plan: `1`, `step 1`, `functions.find:0`. */
  writtenId: string | undefined;
  /**
   * Further names of the step or its output, such as `$var1`. References may use them; the plan does not
   * contain them.
   */
  labels: readonly string[];
  tool: string;
  /** Arguments of the call; for a forEach those of `do`. */
  arguments: JsonObject;
  forEach: ForEach | undefined;
  when: Condition | undefined;
  /** As written: ids of steps or names of tools; ids once they are resolved. */
  dependsOn: string[];
  /** Names of fields in its output, as the call declares them. */
  provides: string[];
  options: StepOptions;
  references: DraftReference[];
  /** References with an unknown root. They already have diagnostics; their values are unknown. */
  refused: Pick<DraftReference, "keys" | "isWhole">[];
}

/** A step with these fields and defaults for all others. */
export function createDraftStep(known: {
  index: number;
  id: string;
  tool?: string;
  position?: number;
}): DraftStep {
  return {
    hasOwnId: false,
    position: known.index,
    writtenId: undefined,
    labels: [],
    tool: "",
    arguments: {},
    forEach: undefined,
    when: undefined,
    dependsOn: [],
    provides: [],
    options: {},
    references: [],
    refused: [],
    ...known,
  };
}

/** Maximum number of explicit dependencies of one step. */
export const MAX_DEPENDENCIES = 1_000;

/** Path from a step to the arguments of its call. */
export function argumentKeys(step: DraftStep): readonly string[] {
  return step.forEach ? ["forEach", "do", "arguments"] : ["arguments"];
}

/** Path from a step to the tool of its call. */
export function toolKeys(step: DraftStep): readonly string[] {
  return step.forEach ? ["forEach", "do", "tool"] : ["tool"];
}

/** `req_{unix seconds}_{random}`; the random part has at least 16 characters of [a-z0-9]. */
export const RequestIdSchema = z.string().regex(/^req_[0-9]{10}_[a-z0-9]{16,32}$/);
/** Id of a request. */
export type RequestId = z.infer<typeof RequestIdSchema>;

/** `plan_{unix seconds}_{random}`; the random part has at least 16 characters of [a-z0-9]. */
export const PlanIdSchema = z.string().regex(/^plan_[0-9]{10}_[a-z0-9]{16,32}$/);
/** Id of an immutable plan, which is executed at most once. */
export type PlanId = z.infer<typeof PlanIdSchema>;

/** Name of a step inside its plan, such as "createAuthor"; unique in the plan, not beyond it. */
export const StepIdSchema = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/);

/** A visible character: not a control, line break, blank, or character without width or meaning. */
const VISIBLE = String.raw`[^\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]`;
/**
 * Plain spaces are allowed only between the first and the last character, so that names that look alike are
 * equal.
 */
const OWN_NAME = `${VISIBLE}(?:(?:${VISIBLE}| ){0,126}${VISIBLE})?`;

/**
 * The name by which a server lists a tool: 1 to 128 printable characters of any script, with plain spaces
 * inside and none at the ends. MCP (SEP-986) asks for letters, digits and `_-./`; servers give others too. No
 * word of it mixes Latin, Cyrillic and Greek letters: such a name could imitate another one.
 * @see Unicode Technical Standard 39, section 5.1 ("mixed-script detection")
 */
export const OwnToolNameSchema = z
  .string()
  .regex(new RegExp(`^${OWN_NAME}$`, "u"))
  .refine(isOfPlainScripts, "a word of it mixes letters that look alike");

/**
 * Name of a tool in plans: the server's name for it, or `server/tool` when two servers offer the same name or
 * the name contains a slash.
 */
export const ToolNameSchema = z
  .string()
  .regex(new RegExp(`^(?:[A-Za-z0-9._-]{1,128}/)?${OWN_NAME}$`, "u"))
  .refine(isOfPlainScripts, "a word of it mixes letters that look alike");

const LOOKALIKES = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u];

/** False when a word mixes letters of scripts that look alike. */
function isOfPlainScripts(name: string): boolean {
  const words = name.match(/[\p{L}\p{M}]+/gu) ?? [];
  return words.every((word) => LOOKALIKES.filter((script) => script.test(word)).length <= 1);
}

const ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789";
const RANDOM_LENGTH = 20;

/** Fills an array with random bytes; pass `crypto.getRandomValues`, or a seeded one in tests. */
export type RandomBytes = (bytes: Uint8Array<ArrayBuffer>) => unknown;

/** A new request id. @param nowMs - Unix time in milliseconds */
export function createRequestId(nowMs: number, randomBytes: RandomBytes): RequestId {
  return `req_${Math.floor(nowMs / 1000)}_${randomPart(randomBytes)}`;
}

/** A new plan id. @param nowMs - Unix time in milliseconds */
export function createPlanId(nowMs: number, randomBytes: RandomBytes): PlanId {
  return `plan_${Math.floor(nowMs / 1000)}_${randomPart(randomBytes)}`;
}

/** Uniform over the alphabet: bytes at or above the largest multiple of its size are drawn again. */
function randomPart(randomBytes: RandomBytes): string {
  const ceiling = 256 - (256 % ALPHABET.length);
  let text = "";
  while (text.length < RANDOM_LENGTH) {
    const bytes = new Uint8Array(RANDOM_LENGTH);
    randomBytes(bytes);
    for (const byte of bytes) {
      if (byte < ceiling && text.length < RANDOM_LENGTH) text += ALPHABET[byte % ALPHABET.length];
    }
  }
  return text;
}

/** How often and when a failed attempt is repeated. Waits have full jitter. */
export const RetryPolicySchema = z.strictObject({
  /** Counts the first call. */
  maxAttempts: z.number().int().min(1).max(20).default(3),
  initialMs: z.number().int().min(0).max(600_000).default(1_000),
  maxMs: z.number().int().min(0).max(3_600_000).default(30_000),
});

/** Operand of a comparison: a literal, or a text holding references. */
const OperandSchema = JsonValueSchema;
const COMPARISONS = ["eq", "ne", "lt", "lte", "gt", "gte", "in", "contains", "startsWith"] as const;

/**
 * A JSON condition, with exactly one operator in each object: `{all: [..]}`, `{any: [..]}`, `{not: c}`, `{eq:
 * [a, b]}` (likewise ne lt lte gt gte in contains startsWith), `{exists: "<<s.f>>"}`, `{empty: "<<s.f>>"}`,
 * `{status: ["s1", "FAILED"]}`.
 */
export type Condition =
  | { all: Condition[] }
  | { any: Condition[] }
  | { not: Condition }
  | { eq: [JsonValue, JsonValue] }
  | { ne: [JsonValue, JsonValue] }
  | { lt: [JsonValue, JsonValue] }
  | { lte: [JsonValue, JsonValue] }
  | { gt: [JsonValue, JsonValue] }
  | { gte: [JsonValue, JsonValue] }
  | { in: [JsonValue, JsonValue] }
  | { contains: [JsonValue, JsonValue] }
  | { startsWith: [JsonValue, JsonValue] }
  | { exists: JsonValue }
  | { empty: JsonValue }
  | { status: [string, string] };

const comparison = (name: (typeof COMPARISONS)[number]) =>
  z.strictObject({ [name]: z.tuple([OperandSchema, OperandSchema]) });

/** Accepts a {@link Condition}. */
const ConditionSchema: z.ZodType<Condition> = z.lazy(() =>
  z.union([
    z.strictObject({ all: z.array(ConditionSchema).max(100) }),
    z.strictObject({ any: z.array(ConditionSchema).max(100) }),
    z.strictObject({ not: ConditionSchema }),
    ...COMPARISONS.map(comparison),
    z.strictObject({ exists: OperandSchema }),
    z.strictObject({ empty: OperandSchema }),
    z.strictObject({ status: z.tuple([StepIdSchema, z.string().max(32)]) }),
  ]),
) as z.ZodType<Condition>;

/** One call for each item of a list. The output is always the envelope of {@link ForEachOutput}. */
export const ForEachSchema = z.strictObject({
  /** A list, or a text that is exactly one reference to a list. */
  items: z.union([z.array(JsonValueSchema), z.string().max(4_096)]),
  /** Name of the current item inside `do.arguments`: `<<item.id>>`; `<<index>>` is its position from 0. */
  as: StepIdSchema.default("item"),
  /** A reference that names each item, such as `<<item.id>>`; default is its index. Must be unique. */
  key: z.string().max(4_096).optional(),
  /** Maximum number of concurrent items; the limits of the tool and the plan apply too. */
  concurrency: z.number().int().min(1).max(256).optional(),
  /**
   * `stop`: the first failed item stops new ones and fails the step; `collect`: failures are entries of the
   * envelope. Absent: by the tool's contract, `stop` for `error_propagation: "fail-fast"` and `collect` for
   * `"partial-success"`.
   */
  errors: z.enum(["stop", "collect"]).optional(),
  /**
   * The step fails with fewer successes than this: a fraction in (0, 1) or a count, of the items that `when`
   * lets through. Absent: 1. Without such an item none is needed.
   */
  minSuccess: z.number().min(0).max(1_000_000).optional(),
  /**
   * Decided for each item before anything is called; it may name the item, as `do.arguments` does. An item for
   * which it is false is SKIPPED: it is not called, is no entry of the envelope, and does not count for
   * `minSuccess`.
   */
  when: ConditionSchema.optional(),
  do: z.strictObject({ tool: ToolNameSchema, arguments: JsonObjectSchema.default({}) }),
});
export type ForEach = z.infer<typeof ForEachSchema>;

const stepCommon = {
  id: StepIdSchema,
  /**
   * Steps that must be final, and whose result the policy must accept, before this one starts. References add
   * to it.
   */
  dependsOn: z.array(StepIdSchema).max(1_000).default([]),
  /** When it is false, the step is SKIPPED. */
  when: ConditionSchema.optional(),
  retry: RetryPolicySchema.optional(),
  /** Timeout of one call of this step, in milliseconds; overrides the policy. See `callTimeout`. */
  timeoutMs: z.number().int().min(1).max(3_600_000).optional(),
  /** Overrides the plan's `onStepFailure` for a failure of this step. */
  onError: FailureModeSchema.optional(),
  /** True: an operator must approve the resolved arguments before the call. */
  approval: z.boolean().optional(),
};

/** A step that is one tool call. */
export const CallStepSchema = z.strictObject({
  ...stepCommon,
  tool: ToolNameSchema,
  arguments: JsonObjectSchema.default({}),
});
/** A step that is one call for each item of a list. */
const ForEachStepSchema = z.strictObject({ ...stepCommon, forEach: ForEachSchema });

/** One step of a plan: a tool call, or a forEach. */
export const StepSchema = z.union([CallStepSchema, ForEachStepSchema]);
export type CallStep = z.infer<typeof CallStepSchema>;
export type ForEachStep = z.infer<typeof ForEachStepSchema>;
export type Step = z.infer<typeof StepSchema>;

/** True for a step that is one call for each item of a list. */
export function isForEachStep(step: Step): step is ForEachStep {
  return "forEach" in step;
}

/** The tool that a step calls. */
export function toolOfStep(step: Step): string {
  return isForEachStep(step) ? step.forEach.do.tool : step.tool;
}

/** The unresolved arguments of a step's call; for a forEach those of `do`. */
export function argumentsOfStep(step: Step): Record<string, JsonValue> {
  return isForEachStep(step) ? step.forEach.do.arguments : step.arguments;
}

/** A condition of a step, with the path to it. */
export interface PlacedCondition {
  condition: Condition;
  keys: readonly string[];
}

/** The conditions of a step: its own, and that of the items of its forEach, which may name the item. */
export function conditionsOf(step: {
  when?: Condition | undefined;
  forEach?: Pick<ForEach, "when"> | undefined;
}): PlacedCondition[] {
  const { when, forEach } = step;
  return [
    ...(when ? [{ condition: when, keys: ["when"] }] : []),
    ...(forEach?.when ? [{ condition: forEach.when, keys: ["forEach", "when"] }] : []),
  ];
}

/** One entry of the output of a forEach, which are in input order. */
export interface ForEachResult {
  index: number;
  key: string;
  status: "ok" | "error" | "skipped" | "in_doubt";
  data?: JsonValue;
  error?: { code: string; message: string };
}

/** Maximum number of step ids in outputs. */
export const MAX_OUTPUTS = 10_000;
export const MAX_OUTPUT_PARTS = 1_000;

/** Name of a part of the outputs: 1 to 128 characters, without control characters. */
export const OutputNameSchema = z.string().regex(/^[^\p{Cc}\p{Surrogate}]{1,128}$/u);

/**
 * The outputs of a plan: ids of steps, or parts by name, each a value with references to steps. An empty list
 * or no parts mean all steps.
 */
const OutputsSchema = z.union([
  z.array(StepIdSchema).max(MAX_OUTPUTS),
  z
    .record(OutputNameSchema, JsonValueSchema)
    .refine((parts) => Object.keys(parts).length <= MAX_OUTPUT_PARTS, {
      message: `at most ${MAX_OUTPUT_PARTS} outputs are allowed`,
    }),
]);
export type Outputs = z.infer<typeof OutputsSchema>;

/** Parts by name; undefined when outputs are step ids or empty. */
export function outputParts(outputs: Outputs | undefined): JsonObject | undefined {
  return outputs === undefined || Array.isArray(outputs) || Object.keys(outputs).length === 0
    ? undefined
    : outputs;
}

/** The requested steps; undefined when outputs are parts, or all steps are meant. */
export function outputSteps(outputs: Outputs | undefined): readonly string[] | undefined {
  return Array.isArray(outputs) && outputs.length > 0 ? outputs : undefined;
}

/** The plan document: an immutable graph of steps. Unknown fields are refused. */
export const PlanSchema = z.strictObject({
  formatVersion: z.literal(1).default(1),
  steps: z.array(StepSchema).min(1),
  /**
   * The requested outputs: outputs of steps, or named values built from them; absent or empty means the
   * outputs of all steps.
   */
  outputs: OutputsSchema.optional(),
  /**
   * Literal texts that look like a reference, a placeholder or "no value" (also the empty text): the request
   * contains them, or they were escaped.
   */
  literals: z.array(z.string().max(300)).max(1_000).optional(),
  policy: PolicySchema.prefault({}),
  limits: LimitsSchema.prefault({}),
});
export type Plan = z.infer<typeof PlanSchema>;

/**
 * The canonical text of a plan: indented JSON with fields in one order. Equal plans give equal text, and
 * `parsePlan(printPlan(plan), { limits: plan.limits })` returns the plan.
 */
export function printPlan(plan: Plan): string {
  const { formatVersion, steps, outputs, literals, policy, limits } = plan;
  return stringifyExactJson(
    {
      formatVersion,
      steps: steps.map(inOrder),
      outputs,
      literals,
      policy: sorted(policy),
      limits: sorted(limits),
    },
    2,
  );
}

function inOrder(step: Step) {
  const { id, dependsOn, when, retry, timeoutMs, onError, approval } = step;
  const call = "forEach" in step ? { forEach: step.forEach } : { tool: step.tool, arguments: step.arguments };
  return { id, ...call, dependsOn, when, retry, timeoutMs, onError, approval };
}

function sorted(options: object): object {
  return Object.fromEntries(Object.entries(options).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/**
 * JSON Schema 2020-12 of the plan document in its canonical form, as input: fields with a default may be left
 * out.
 */
export function planJsonSchema(): JsonObject {
  return jsonSchemaOf(PlanSchema);
}
