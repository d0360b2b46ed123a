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

/** Share of the references to shown fields that are wrong at first. */
const SLIPS = 1 / 6;

/**
 * A model that knows what a request calls for, and of fields only what its prompt shows: these it uses, all
 * others it guesses by names that are usual elsewhere. Now and then it slips, and it puts right what findings
 * tell it. It reads the real prompt; what is hidden there it does not know.
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
      steps: steps.map((step) => inWords(toAnswer(step), (reference) => written(reference, step))),
      ...(outputs && { outputs: inWords(outputs, (reference) => written(reference)) }),
    });
  };
}

/** Only what a model says of a step. */
function toAnswer(step: Step): JsonObject {
  const { id, dependsOn, when } = step;
  const call: JsonObject = isForEachStep(step)
    ? { forEach: { items: step.forEach.items, as: step.forEach.as, do: { ...step.forEach.do } } }
    : { tool: step.tool, arguments: step.arguments };
  return { id, ...call, ...(dependsOn.length > 0 && { dependsOn }), ...(when && { when: toJson(when) }) };
}

/** The type of a condition allows for fields that are undefined, which no JSON text has. */
const toJson = (value: object): JsonValue => JSON.parse(JSON.stringify(value));

interface Writing {
  caseId: string;
  byId: ReadonlyMap<string, Step>;
  /** The outputs of tools as the prompt shows them. */
  shapes: ReadonlyMap<string, JsonValue>;
  /** The place of the reference. */
  step: Step | undefined;
}

/** The path that the model writes after the root of a reference. */
function writtenPath(reference: Reference, { caseId, byId, shapes, step }: Writing): PathSegment[] {
  const { root, path } = reference;
  const items = step && isForEachStep(step) && root === step.forEach.as ? itemsOf(step) : undefined;
  const source = byId.get(items?.root ?? root);
  if (!source) return [...path];
  const all: PathSegment[] = items ? [...items.path, { type: "all" }, ...path] : [...path];
  // What a list of calls gives is told by a rule; only what stands in `data` is the tool's.
  const own = isForEachStep(source)
    ? all.findIndex((each) => each.type === "key" && each.key === "data") + 1
    : 0;
  if (isForEachStep(source) && own === 0) return [...path];
  const guessing = { caseId, tool: toolOfStep(source) };
  const meant = all.slice(own);
  const guessed = guessedPath(meant, shapes.get(guessing.tool), guessing);
  const isSlip = fractionOf("slip", caseId, guessing.tool) < SLIPS && samePath(guessed, meant);
  const written = [...all.slice(0, own), ...(isSlip ? slippedPath(guessed, guessing) : guessed)];
  if (!items) return written;
  // The item stands for the list and its `[*]`; a slip that leaves a name out leaves it out of the path
  // behind the item.
  const length = Math.max(0, path.length - Math.max(0, all.length - written.length));
  return length === 0 ? [] : written.slice(-length);
}

const samePath = (one: readonly PathSegment[], other: readonly PathSegment[]) =>
  printReference("x", one) === printReference("x", other);

function itemsOf(step: Step): Reference | undefined {
  return isForEachStep(step) && typeof step.forEach.items === "string"
    ? scanReferences(step.forEach.items)[0]
    : undefined;
}

/** A value with each reference as the model writes it. */
function inWords(value: JsonValue, pathOf: (reference: Reference) => PathSegment[]): JsonValue {
  if (Array.isArray(value)) return value.map((item) => inWords(item, pathOf));
  if (isJsonObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, inWords(inner, pathOf)]));
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

/** Names of fields that references go to. */
function namesIn(value: JsonValue): Set<string> {
  const segments = scanReferences(value).flatMap(({ path }) => path);
  return new Set(segments.flatMap((segment) => (segment.type === "key" ? [segment.key] : [])));
}

/** The texts of a conversation, the first one first. */
function textsOf(body: JsonObject): string[] {
  const messages = Array.isArray(body["messages"]) ? body["messages"] : [];
  return messages.map((each) => {
    const content = isJsonObject(each) ? each["content"] : "";
    return typeof content === "string" ? content : "";
  });
}

/** The outputs in the list of tools, declared or observed. */
function shapesIn(texts: readonly string[]): Map<string, JsonValue> {
  const listed = texts.flatMap((text) => /<tools>\n([\s\S]*?)\n<\/tools>/.exec(text)?.[1]?.split("\n") ?? []);
  const lines = listed.map((line): JsonValue => JSON.parse(line)).filter(isJsonObject);
  return new Map(
    lines.flatMap(({ name, output, seen = output }): [string, JsonValue][] =>
      typeof name === "string" && seen !== undefined ? [[name, seen]] : [],
    ),
  );
}
