import {
  isForEachStep,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type PathSegment,
  type Plan,
  printReference,
  type Reference,
  type Step,
  scanReferences,
  toolOfStep,
} from "@planwright/plan";
import { answer, type ModelRequest, type ScriptedAnswer } from "@planwright/testing";
import { fractionOf } from "../../random/hash.ts";
import { guessedPath, slippedPath } from "./guessed-path.ts";
import { repairedPlan } from "./repaired-plan.ts";

/** Share of the references to shown fields that are wrong in the first answer. */
const SLIPS = 1 / 6;

/**
 * A model that knows the plan of a request, but only those fields of outputs that its prompt shows. It
 * guesses all other fields by common names, and sometimes writes a shown field wrong. In a repair it corrects
 * the references that diagnostics name. It reads the real prompt.
 */
export function guessingModel(
  caseId: string,
  { steps, outputs }: Pick<Plan, "steps" | "outputs">,
): (request: Pick<ModelRequest, "body">) => ScriptedAnswer {
  const byId = new Map<string, Step>(steps.map((step) => [step.id, step]));
  const meant = namesIn([...steps.map(toAnswer), outputs ?? null]);
  return ({ body }) => {
    if (body["tools"] !== undefined && body["tool_choice"] === undefined)
      return { type: "answer", text: "PLAN" };
    const texts = textsOf(body);
    const repaired = repairedPlan(texts, meant);
    if (repaired) return answer(repaired);
    const shapes = shapesIn(texts);
    const written = (reference: Reference, step?: Step) =>
      writtenPath(reference, { caseId, byId, shapes, step });
    return answer({
      steps: steps.map((step) => withPaths(toAnswer(step), (reference) => written(reference, step))),
      ...(outputs && { outputs: withPaths(outputs, (reference) => written(reference)) }),
    });
  };
}

/** The parts of a step that a model writes. */
function toAnswer(step: Step): JsonObject {
  const { id, dependsOn, when } = step;
  const call: JsonObject = isForEachStep(step)
    ? { forEach: { items: step.forEach.items, as: step.forEach.as, do: { ...step.forEach.do } } }
    : { tool: step.tool, arguments: step.arguments };
  return { id, ...call, ...(dependsOn.length > 0 && { dependsOn }), ...(when && { when: toJson(when) }) };
}

/** Converts a condition, whose type allows undefined fields, to JSON. */
const toJson = (value: object): JsonValue => JSON.parse(JSON.stringify(value));

interface Writing {
  caseId: string;
  byId: ReadonlyMap<string, Step>;
  /** The outputs of tools as the prompt shows them. */
  shapes: ReadonlyMap<string, JsonValue>;
  /** The step that contains the reference; undefined for outputs of the plan. */
  step: Step | undefined;
}

/** The path that the model writes after the root of a reference. */
function writtenPath(reference: Reference, { caseId, byId, shapes, step }: Writing): PathSegment[] {
  const { root, path } = reference;
  const items = step && isForEachStep(step) && root === step.forEach.as ? itemsOf(step) : undefined;
  const source = byId.get(items?.root ?? root);
  if (!source) return [...path];
  const all: PathSegment[] = items ? [...items.path, { type: "all" }, ...path] : [...path];
  // The prompt's rules describe the output of a list of calls; only the content of `data` comes from the
  // tool.
  const toolPathStart = isForEachStep(source)
    ? all.findIndex((each) => each.type === "key" && each.key === "data") + 1
    : 0;
  if (isForEachStep(source) && toolPathStart === 0) return [...path];
  const guessing = { caseId, tool: toolOfStep(source) };
  const meant = all.slice(toolPathStart);
  const guessed = guessedPath(meant, shapes.get(guessing.tool), guessing);
  const isSlip = fractionOf("slip", caseId, guessing.tool) < SLIPS && isSamePath(guessed, meant);
  const written = [...all.slice(0, toolPathStart), ...(isSlip ? slippedPath(guessed, guessing) : guessed)];
  if (!items) return written;
  // The item replaces the list and its `[*]`. A mistake that leaves a name out leaves it out of the path
  // after the item.
  const length = Math.max(0, path.length - Math.max(0, all.length - written.length));
  return length === 0 ? [] : written.slice(-length);
}

const isSamePath = (one: readonly PathSegment[], other: readonly PathSegment[]) =>
  printReference("x", one) === printReference("x", other);

function itemsOf(step: Step): Reference | undefined {
  return isForEachStep(step) && typeof step.forEach.items === "string"
    ? scanReferences(step.forEach.items)[0]
    : undefined;
}

/** A value in which each reference has the path that `pathOf` gives. */
function withPaths(value: JsonValue, pathOf: (reference: Reference) => PathSegment[]): JsonValue {
  if (Array.isArray(value)) return value.map((item) => withPaths(item, pathOf));
  if (isJsonObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withPaths(inner, pathOf)]));
  }
  if (typeof value !== "string") return value;
  let written = "";
  let end = 0;
  for (const reference of scanReferences(value)) {
    written += value.slice(end, reference.start) + printReference(reference.root, pathOf(reference));
    end = reference.end;
  }
  return written + value.slice(end);
}

/** Names of the fields in references. */
function namesIn(value: JsonValue): Set<string> {
  const segments = scanReferences(value).flatMap(({ path }) => path);
  return new Set(segments.flatMap((segment) => (segment.type === "key" ? [segment.key] : [])));
}

/** The texts of a conversation, oldest first. */
function textsOf(body: JsonObject): string[] {
  const messages = Array.isArray(body["messages"]) ? body["messages"] : [];
  return messages.map((each) => {
    const content = isJsonObject(each) ? each["content"] : "";
    return typeof content === "string" ? content : "";
  });
}

/** The outputs in the prompt's list of tools, declared or observed. */
function shapesIn(texts: readonly string[]): Map<string, JsonValue> {
  const listed = texts.flatMap((text) => /<tools>\n([\s\S]*?)\n<\/tools>/.exec(text)?.[1]?.split("\n") ?? []);
  const lines = listed.map((line): JsonValue => JSON.parse(line)).filter(isJsonObject);
  return new Map(
    lines.flatMap(({ name, output, seen = output }): [string, JsonValue][] =>
      typeof name === "string" && seen !== undefined ? [[name, seen]] : [],
    ),
  );
}
