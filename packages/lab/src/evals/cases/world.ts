import { createVirtualClock, runPlan, type StepResult } from "@planwright/engine";
import {
  canonicalJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Plan,
  type ToolDescriptor,
} from "@planwright/plan";
import { z } from "zod";

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
export type World = z.infer<typeof WorldSchema>;

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
export function answersIn({ gives, byArgument }: World, tools: readonly ToolDescriptor[]): Answers {
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
