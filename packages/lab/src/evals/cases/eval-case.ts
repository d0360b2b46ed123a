import { createVirtualClock, runPlan, type StepResult } from "@planwright/engine";
import {
  CodedError,
  canonicalJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Plan,
  parsePlan,
  type ToolDescriptor,
} from "@planwright/plan";
import type { GivenContext } from "@planwright/store";
import type { ScriptedAnswer } from "@planwright/testing";
import { z } from "zod";

/**
 * The origin of a case, which decides what it measures. "offline": the rules. "reading": reading answers of
 * models. "model": planning as a whole. "language": loops and conditions.
 */
export const SOURCES = ["offline", "reading", "model", "language"] as const;
export type Source = (typeof SOURCES)[number];

/** How planning a request ends. */
export type Ending =
  | { type: "plan"; plan: Pick<Plan, "steps" | "outputs"> }
  /**
   * Questions about values that the user did not give, as sorted `tool.parameter`; empty when a model asked
   * in its own words.
   */
  | { type: "questions"; missing: readonly string[] }
  | { type: "refusal"; code: string };

/** A request with its tools, and how planning it should end. */
export interface EvalCase {
  /** Unique: made of source, domain, and title or query. */
  id: string;
  source: Source;
  /** Name of the catalogue. */
  domain: string;
  query: string;
  /** The caller's time and place; absent: a fixed day in the past, in UTC. */
  context?: GivenContext | undefined;
  tools: readonly ToolDescriptor[];
  /**
   * Answers of the model, one for each call; the last one also answers all further calls. Empty for the
   * offline drafter.
   */
  answers: readonly ScriptedAnswer[];
  /**
   * Answer of the model when the prompt offers tools instead of asking for a plan. Absent: it calls no tool,
   * and the request is planned.
   */
  direct?: ScriptedAnswer | undefined;
  /** The right ending of the request, for any drafter. */
  wanted: Ending;
  /** The right ending for the recorded answers, when they do not allow `wanted`. */
  wantedOfAnswers?: Ending | undefined;
  /** When present, plans are graded by their effects in each world, not by their text. */
  worlds?: readonly ToolAnswers[] | undefined;
}

/** A case whose wanted ending is impossible, so that it measures nothing. */
export class CaseInvalidError extends CodedError<{ reason: string }> {
  readonly code = "CASE_INVALID";
  readonly retryable = false;
  constructor(facts: { reason: string }, cause?: unknown) {
    super(`A case is wrong: ${facts.reason}`, facts, { cause });
  }
}

/**
 * Steps and outputs of a case, parsed as a plan.
 * @throws {CaseInvalidError} when they are not a plan
 */
export function planEnding(steps: unknown, outputs?: JsonValue): Ending & { type: "plan" } {
  const parsed = parsePlan({ steps, ...(outputs !== undefined && { outputs }) });
  if (!parsed.ok)
    throw new CaseInvalidError({ reason: parsed.diagnostics.map(({ message }) => message).join("; ") });
  return { type: "plan", plan: parsed.plan };
}

/**
 * Answers of tools by name: one value for every call, or one value for each text of the first argument. Other
 * tools answer with a sample of their output schema.
 */
export const WorldSchema = z.strictObject({
  gives: z.record(z.string(), z.json()).default({}),
  byArgument: z.record(z.string(), z.record(z.string(), z.json())).default({}),
  /** Number of calls that the wanted plan makes in this world. */
  calls: z.number().int().min(0),
});
export type ToolAnswers = z.infer<typeof WorldSchema>;

/** The answer of a tool to a call. */
export type Answers = (call: { tool: string; arguments: JsonObject }) => JsonValue;

/** The effects of a plan in a world. */
export interface PlanEffects {
  status: string;
  /** Codes of the errors of steps and items. */
  errors: string[];
  /** Tools that were called. */
  tools: string[];
  /** Each call with its arguments, as canonical JSON. */
  calls: string[];
  /** Values of the outputs, unordered and without names; null when the plan chooses no outputs. */
  outputs: string[] | null;
}

/** Runs a plan in memory with tools that give these answers. */
export async function effectsOf(
  { steps, outputs }: Pick<Plan, "steps" | "outputs">,
  tools: readonly ToolDescriptor[],
  answers: Answers,
): Promise<PlanEffects> {
  const made: { tool: string; arguments: JsonObject }[] = [];
  const result = await runPlan(
    { steps, ...(outputs && { outputs }) },
    {
      tools,
      clock: createVirtualClock(),
      random: () => 0.5,
      callTool: ({ tool, arguments: args }) => {
        made.push({ tool, arguments: args });
        return answers({ tool, arguments: args });
      },
    },
  );
  return {
    status: result.status,
    errors: Object.values(result.steps).flatMap(errorsOf),
    tools: made.map(({ tool }) => tool),
    calls: made.map((call) => canonicalJson(call)),
    outputs: outputs ? Object.values(result.outputs).map((value) => canonicalJson(value)) : null,
  };
}

const errorsOf = ({ error, items = [] }: StepResult): string[] => [
  ...(error ? [error.code] : []),
  ...items.flatMap(errorsOf),
];

/** The answers of tools in a world. */
export function answersIn({ gives, byArgument }: ToolAnswers, tools: readonly ToolDescriptor[]): Answers {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return (call) => {
    const [first = ""] = Object.values(call.arguments);
    const key = typeof first === "string" ? first : canonicalJson(first);
    const sample = () => sampleOf(byName.get(call.tool)?.outputSchema ?? {}, call);
    return byArgument[call.tool]?.[key] ?? gives[call.tool] ?? sample();
  };
}

/** A sample of a schema; its texts name the call that returned it. */
function sampleOf(schema: JsonValue, call: JsonValue): JsonValue {
  if (!isJsonObject(schema)) return null;
  const { type, properties } = schema;
  if (isJsonObject(properties)) {
    return Object.fromEntries(
      Object.entries(properties).map(([name, inner]) => [name, sampleOf(inner, call)]),
    );
  }
  if (type === "string") return `of ${canonicalJson(call)}`;
  if (type === "number" || type === "integer") return 7;
  return type === "array" ? [] : null;
}
