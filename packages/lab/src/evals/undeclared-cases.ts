import {
  argumentsOfStep,
  canonicalJson,
  isForEachStep,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type observeOutput,
  type Plan,
  type Step,
  scanReferences,
  type ToolDescriptor,
} from "@planwright/plan";
import { fractionOf } from "../random/random.ts";
import { type Answers, answersIn, type EvalCase } from "./cases/eval-case.ts";
import { languageCases } from "./cases/language-cases.ts";
import { modelCases } from "./cases/model-cases.ts";
import { offlineCases } from "./cases/offline-cases.ts";

/** A request whose plan needs fields of outputs, with tools that declare no outputs. */
export interface UndeclaredCase extends Pick<EvalCase, "id" | "query" | "context"> {
  /** The tools with their declared outputs, which no prompt shows. */
  tools: readonly ToolDescriptor[];
  wanted: Pick<Plan, "steps" | "outputs">;
  /** Answers of the tools when the plan runs. */
  worlds: readonly Answers[];
}

/** Adds one output to the observed outputs; executors use {@link observeOutput}. */
export type Learner = typeof observeOutput;

/** The requests of the other groups whose wanted plans refer to outputs, each once. */
export function undeclaredCases(): UndeclaredCase[] {
  const byRequest = new Map(
    [...offlineCases(), ...modelCases(), ...languageCases()]
      .toReversed()
      .map((each) => [`${each.domain}: ${each.query}`, each]),
  );
  return [...byRequest.values()].toReversed().flatMap((each) => {
    const { id, query, context, tools, wanted, worlds } = each;
    if (wanted.type !== "plan" || !wanted.plan.steps.some(refersToOutput)) return [];
    const answers = worlds?.map((world) => answersIn(world, tools)) ?? [answersBySchema(tools)];
    return [{ id, query, context, tools, wanted: wanted.plan, worlds: answers }];
  });
}

const refersToOutput = (step: Step) =>
  scanReferences([argumentsOfStep(step), step.when ?? null]).length > 0 ||
  (isForEachStep(step) && scanReferences(step.forEach.items).length > 0);

/** Every tool answers with a sample of its output schema; the values differ for every call. */
function answersBySchema(tools: readonly ToolDescriptor[]): Answers {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return (call) => sampleOutput(byName.get(call.tool)?.outputSchema, { salt: canonicalJson(call) });
}

/**
 * The tools as a planner sees them after this number of recorded runs of each: without output schemas, with
 * observed outputs.
 */
export function afterRuns(tools: readonly ToolDescriptor[], runs: number, learn: Learner): ToolDescriptor[] {
  return tools.map(({ outputSchema, ...tool }) => {
    if (!outputSchema || runs === 0) return tool;
    const outputs = Array.from({ length: runs }, (_, run) =>
      sampleOutput(outputSchema, { salt: `${tool.name}, run ${run}`, isPartial: true }),
    );
    const observedOutput = outputs.reduce<ReturnType<Learner> | undefined>(
      (known, output) => learn(known, output),
      undefined,
    );
    return { ...tool, ...(observedOutput && { observedOutput }) };
  });
}

/** Options of {@link sampleOutput}. */
interface Sampling {
  /** Text by which the values differ from those of other calls. */
  salt: string;
  /** Leaves out optional fields and items of lists, as real outputs do. Default: all are present. */
  isPartial?: boolean;
}

const MAX_ITEMS = 2;

/** An output of a tool with this schema, complete or partial. The same input gives the same output. */
function sampleOutput(schema: JsonValue | undefined, sampling: Sampling, path = ""): JsonValue {
  if (!isJsonObject(schema)) return null;
  const { type, properties, items } = schema;
  if (Array.isArray(schema["enum"])) return schema["enum"][0] ?? null;
  if (isJsonObject(properties)) return fieldsOf(properties, sampling, path);
  switch (Array.isArray(type) ? type[0] : type) {
    case "array":
      return itemsOf(items, sampling, path);
    case "string":
      return textOf(schema["format"], sampling, path);
    case "integer":
      return Math.floor(fractionOf(sampling.salt, path) * 1_000);
    case "number":
      return Math.floor(fractionOf(sampling.salt, path) * 1_000) + 0.5;
    case "boolean":
      return fractionOf(sampling.salt, path) < 0.5;
    case "object":
      return {};
    default:
      return null;
  }
}

function fieldsOf(properties: JsonObject, sampling: Sampling, path: string): JsonObject {
  const named = Object.entries(properties).filter(([name]) => isPresent(`${path}.${name}`, sampling));
  return Object.fromEntries(
    named.map(([name, inner]) => [name, sampleOutput(inner, sampling, `${path}.${name}`)]),
  );
}

/** A quarter of all fields are optional; each of these is present in a third of the outputs. */
function isPresent(path: string, { salt, isPartial }: Sampling): boolean {
  const field = path.replace(/\[\d+\]/g, "[]");
  return !isPartial || fractionOf("optional", field) >= 1 / 4 || fractionOf("there", path, salt) < 1 / 3;
}

function itemsOf(items: JsonValue | undefined, sampling: Sampling, path: string): JsonValue[] {
  const count = sampling.isPartial
    ? Math.floor(fractionOf("items", path, sampling.salt) * (MAX_ITEMS + 1))
    : MAX_ITEMS;
  return Array.from({ length: count }, (_, index) => sampleOutput(items, sampling, `${path}[${index}]`));
}

function textOf(format: JsonValue | undefined, { salt }: Sampling, path: string): string {
  const number = Math.floor(fractionOf(salt, path) * 100_000);
  if (format === "email" || path.endsWith("email")) return `m${number}@mail.test`;
  if (format === "date") return "2026-12-01";
  return format === "date-time" ? "2026-12-01T10:00:00Z" : `${path.slice(1)} ${number}`;
}
