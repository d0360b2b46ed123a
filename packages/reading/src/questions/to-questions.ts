import {
  type AskedParameter,
  type Diagnostic,
  type DiagnosticCode,
  findTool,
  type GapValue,
  isJsonObject,
  isJsonType,
  type JsonObject,
  type JsonValue,
  MAX_QUESTIONS,
  type OpenQuestion,
  type Plan,
  printPlace,
  type ToolDescriptor,
  toolOfStep,
} from "@planwright/plan";
import { cut, escapeReferences, schemaAtPath, setOwn, toSegment } from "@planwright/plan/internal";
import { formOf } from "./read-answer.ts";

/** An argument of a drafted step without a value. */
export interface Gap extends Pick<GapValue, "stepId" | "keys"> {
  readonly tool: string;
  /** Text of the request for this argument that cannot be the value, such as a name instead of an address. */
  readonly said?: string | null | undefined;
  /** The request's name for the object of the step, when several steps use the tool. */
  readonly object?: string | null | undefined;
  /** The question in the model's words. */
  readonly question?: string | undefined;
  /** The required form of the value, in words; default: from the schema. */
  readonly form?: string | undefined;
}

/**
 * The questions about gaps of a draft, at most 20, numbered after the earlier questions of the request. Pure.
 * @param asked - number of earlier questions of the request
 */
export function toQuestions(
  gaps: readonly Gap[],
  { tools, asked }: { tools: readonly ToolDescriptor[]; asked: number },
): OpenQuestion[] {
  return gaps.slice(0, MAX_QUESTIONS).map((gap, index) => {
    const about = askedParameter(gap, tools);
    return { id: `q${asked + index + 1}`, question: cut(gap.question ?? wordsOf(gap, about), 900), about };
  });
}

/** Free questions of a model that name no argument. */
export function toFreeQuestions(questions: readonly string[], asked: number): OpenQuestion[] {
  return questions
    .slice(0, MAX_QUESTIONS)
    .map((question, index) => ({ id: `q${asked + index + 1}`, question: cut(question, 900), about: null }));
}

function askedParameter({ stepId, tool, keys }: Gap, tools: readonly ToolDescriptor[]): AskedParameter {
  const inputSchema = findTool(tools, tool)?.inputSchema;
  return { stepId, tool, keys: [...keys], schema: inputSchema ? schemaOf(inputSchema, keys) : null };
}

/** Larger schemas of a parameter are not stored with a question. */
const MAX_SCHEMA_LENGTH = 8_192;

function schemaOf(inputSchema: JsonObject, keys: readonly (string | number)[]): JsonObject | null {
  const found = schemaAtPath(inputSchema, keys.map(toSegment));
  if (found.type !== "known") return null;
  const schemas = found.schemas.filter(isJsonObject);
  const [only] = schemas;
  if (!only || schemas.length !== found.schemas.length) return null;
  const one: JsonObject = schemas.length === 1 ? withForm(only, keys.at(-1)) : { anyOf: schemas };
  const text = JSON.stringify(one);
  const { $defs, definitions } = inputSchema;
  const complete: JsonObject = text.includes('"$ref"')
    ? { ...one, ...($defs && { $defs }), ...(definitions && { definitions }) }
    : one;
  return JSON.stringify(complete).length > MAX_SCHEMA_LENGTH ? null : complete;
}

/** The schema, with the format of an address for a text named "email" without a format. */
function withForm(schema: JsonObject, key: string | number | undefined): JsonObject {
  const isText = schema["type"] === "string" && isJsonType(schema["type"]);
  const isFree = ["format", "pattern", "enum", "const"].every((name) => !Object.hasOwn(schema, name));
  return isText && isFree && /(?:^|[a-z_-])e-?mail(?:[_-]?address)?$/i.test(String(key ?? ""))
    ? { ...schema, format: "email" }
    : schema;
}

function wordsOf({ tool, keys, said, object, form }: Gap, { schema }: AskedParameter): string {
  const description = schema?.["description"];
  const meaning = typeof description === "string" ? cut(description.replace(/[.\s]+$/, ""), 300) : "";
  const whose = object ? ` for ${JSON.stringify(cut(object, 80))}` : "";
  const misfit = said ? ` ${JSON.stringify(cut(said, 80))} cannot be used.` : "";
  const about = meaning === "" ? "" : ` (${meaning})`;
  return `What should "${printPlace(keys)}"${about} of ${tool}${whose} be?${misfit} Give ${form ?? formOf(schema)}.`;
}

/** A drafted plan in which some arguments are still missing: `{steps: [{id, tool, arguments, ..}], ..}`. */
export interface DraftWithGaps {
  [field: string]: JsonValue;
  steps: JsonObject[];
}

/**
 * The draft with values in its gaps; nothing else changes. Pure.
 * @throws {RangeError} if the draft has no such step or path
 */
export function fillGaps(draft: DraftWithGaps, values: readonly GapValue[]): DraftWithGaps {
  const steps = draft.steps.map((step) => {
    const own = values.filter(({ stepId }) => stepId === step["id"]);
    return own.length === 0 ? step : own.reduce(fillStep, structuredClone(step));
  });
  const lost = values.find(({ stepId }) => !draft.steps.some(({ id }) => id === stepId));
  if (lost) throw new RangeError(`The draft has no step ${lost.stepId}`);
  return { ...draft, steps };
}

/** The step is a copy of the caller and is changed. */
function fillStep(step: JsonObject, { stepId, keys, value }: GapValue): JsonObject {
  const last = keys.at(-1);
  const holder = keys.slice(0, -1).reduce<JsonValue | undefined>(memberOf, argumentsIn(step));
  const literal = escapeReferences(value);
  if (Array.isArray(holder) && typeof last === "number" && last < holder.length) holder[last] = literal;
  else if (isJsonObject(holder) && typeof last === "string") setOwn(holder, last, literal);
  else throw new RangeError(`Step ${stepId} has no place ${keys.join(".")}`);
  return step;
}

function memberOf(value: JsonValue | undefined, key: string | number): JsonValue | undefined {
  if (Array.isArray(value)) return typeof key === "number" ? value[key] : undefined;
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function argumentsIn(step: JsonObject): JsonValue | undefined {
  const { forEach } = step;
  const call = isJsonObject(forEach) && isJsonObject(forEach["do"]) ? forEach["do"] : step;
  call["arguments"] ??= {};
  return call["arguments"];
}

/** Errors that a valid value fixes. */
const OPEN: ReadonlySet<DiagnosticCode> = new Set(["ARGUMENT_UNSOURCED", "ARGUMENT_PLACEHOLDER"]);

/**
 * The arguments of a plan that only the user can give, from its diagnostics; undefined when the plan has
 * other errors, which no answer would fix. Pure.
 * @param missing - true when the planner asks for values that it left out: missing required arguments are
 *   gaps too
 */
export function gapsOfPlan(
  plan: Plan,
  diagnostics: readonly Diagnostic[],
  { missing }: { missing: boolean },
): Gap[] | undefined {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const isOpen = (code: DiagnosticCode) => OPEN.has(code) || (missing && code === "ARGUMENT_MISSING");
  const gaps = errors.map((error) => (isOpen(error.code) ? gapAt(plan, error) : null));
  const known = gaps.filter((gap) => gap !== null);
  if (known.length < errors.length) return undefined;
  const byPlace = new Map(known.map((gap) => [JSON.stringify([gap.stepId, gap.keys]), gap]));
  return [...byPlace.values()];
}

function gapAt(plan: Plan, { stepId, path = "" }: Diagnostic): Gap | null {
  const [steps, index, ...below] = keysOfPlace(path) ?? [];
  const step = typeof index === "number" && steps === "steps" ? plan.steps[index] : undefined;
  if (!step || step.id !== stepId) return null;
  const inCall = below[0] === "forEach" && below[1] === "do" ? below.slice(2) : below;
  const [first, ...keys] = inCall;
  return first === "arguments" && keys.length > 0 ? { stepId: step.id, tool: toolOfStep(step), keys } : null;
}

/** Maximum length of a path. */
const MAX_LENGTH = 4_000;

/**
 * The keys of a path in the form of diagnostics: `steps[2].arguments["a b"]` is `["steps", 2, "arguments", "a
 * b"]`. Undefined for an invalid path.
 */
export function keysOfPlace(place: string): (string | number)[] | undefined {
  if (place.length > MAX_LENGTH) return undefined;
  const keys: (string | number)[] = [];
  const part = /\.?([A-Za-z0-9_$-]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/y;
  while (part.lastIndex < place.length) {
    const found = part.exec(place);
    if (!found) return undefined;
    const [, name, index, quoted] = found;
    if (name !== undefined) keys.push(name);
    else if (index !== undefined) keys.push(Number(index));
    else keys.push(String(JSON.parse(quoted ?? '""')));
  }
  return keys;
}
