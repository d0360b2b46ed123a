import { plainName } from "../document/field-words.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import type { FieldNames } from "./read-fields.ts";

/** Names of the fields of a call in all dialects and by habits of models. */
export const CALL_FIELDS: FieldNames = {
  tool: ["tool", "toolName", "toolId", "functionName", "actionName"],
  arguments: [
    "arguments",
    "parameters",
    "args",
    "input",
    "params",
    "inputs",
    "kwargs",
    "toolInput",
    "toolInputs",
    "toolArgs",
    "toolArguments",
    "toolParameters",
    "toolParams",
    "actionInput",
    "inputParameters",
    "inputArguments",
    "functionArguments",
    "functionArgs",
    "with",
  ],
};

/**
 * Fields that name the tool when no field of {@link CALL_FIELDS} does; otherwise they are labels of the step.
 */
export const LABEL_FIELDS: FieldNames = {
  name: ["name"],
  function: ["function", "functionCall", "toolUse", "toolCall"],
  action: ["action"],
  operation: ["operation"],
  task: ["task"],
  method: ["method"],
  command: ["command"],
  api: ["api"],
  operator: ["operator"],
  uses: ["uses"],
};

/** Fields of a document that may contain its calls. */
export const CALL_LISTS = ["steps", "tools", "calls"] as const;

const plainNames = (names: readonly string[] | undefined) => new Set((names ?? []).map(plainName));
const TOOLS = plainNames(CALL_FIELDS["tool"]);
const ARGUMENTS = plainNames(CALL_FIELDS["arguments"]);
const LABELS = plainNames(Object.values(LABEL_FIELDS).flat());
const COMMON = new Set(["input", "inputs", "params", "with"]);
const NESTED = plainNames(LABEL_FIELDS["function"]);

/** True for a field that holds the arguments of a call. */
export function isArgumentsField(name: string): boolean {
  return ARGUMENTS.has(plainName(name));
}

/** True for a field that names the tool of a call. */
export function isToolField(name: string): boolean {
  const plain = plainName(name);
  return TOOLS.has(plain) || plain === "name";
}

/** True for a field that may name a tool, or be a label of a step: `action`, `operation`, `step`. */
export function isLabelField(name: string): boolean {
  const plain = plainName(name);
  return plain === "step" || (LABELS.has(plain) && plain !== "name" && plain !== "task");
}

/**
 * True for a field that only calls have: it names a tool or contains arguments, and other JSON rarely has
 * this name.
 */
export function isCallField(name: string): boolean {
  const plain = plainName(name);
  return (TOOLS.has(plain) || ARGUMENTS.has(plain)) && !COMMON.has(plain);
}

/** True for a field that contains a nested call: `{function: {name, arguments}}`. */
export function isNestedCallField(name: string): boolean {
  return NESTED.has(plainName(name));
}

/** True for a value that can only be a call: it names a tool, or has another name and arguments. */
export function isCall(value: JsonValue | undefined): value is JsonObject {
  if (!isJsonObject(value)) return false;
  let isLabelled = false;
  let hasArguments = false;
  for (const [name, field] of Object.entries(value)) {
    const plain = plainName(name);
    if (TOOLS.has(plain) || (plain === "foreach" && isJsonObject(field))) return true;
    if (NESTED.has(plain) && isJsonObject(field)) return true;
    isLabelled ||= LABELS.has(plain) && typeof field === "string";
    hasArguments ||= ARGUMENTS.has(plain);
  }
  return isLabelled && hasArguments;
}

/**
 * The calls in a field of a document: a list, an object of calls by id, or a single call; undefined for any
 * other value.
 */
export function callsIn(value: JsonValue | undefined): JsonValue[] | undefined {
  if (Array.isArray(value)) return value;
  if (!isJsonObject(value)) return undefined;
  if (isCall(value)) return [value];
  const ids = Object.keys(value);
  if (ids.length === 0 || !ids.every((id) => isCall(value[id]))) return undefined;
  return ids.map((id) => withId(id, value[id] ?? null));
}

/** Adds the id to a call. An id inside the call must be the same. */
function withId(id: string, call: JsonValue): JsonValue {
  if (!isJsonObject(call)) return call;
  const said = Object.entries(call).filter(([, value]) => value !== null);
  return { stepId: id, ...Object.fromEntries(said) };
}

/** True for a list of tool definitions, which models sometimes repeat: their parameters are a schema. */
export function isCatalogue(list: readonly JsonValue[]): boolean {
  const isOffer = (item: JsonValue) => {
    if (!isJsonObject(item)) return false;
    if (["inputSchema", "input_schema"].some((name) => Object.hasOwn(item, name))) return true;
    const { function: wrapped } = item;
    const { parameters } = isJsonObject(wrapped) ? wrapped : item;
    return (
      isJsonObject(parameters) && parameters["type"] === "object" && isJsonObject(parameters["properties"])
    );
  };
  return list.length > 0 && list.every(isOffer);
}

const PROSE_TYPES = new Set(["text", "thinking", "redactedthinking", "reasoning", "message", "outputtext"]);
const PROSE_FIELDS = new Set(
  "type id text thinking reasoning signature summary content data role status annotations".split(" "),
);

/** True for a block of an answer with text and without a call: `{type: "text", text}`, `{text}`. */
export function isProseBlock(value: JsonValue): boolean {
  if (!isJsonObject(value) || isCall(value)) return false;
  const { type } = value;
  const names = Object.keys(value).map(plainName);
  if (!names.every((name) => PROSE_FIELDS.has(name))) return false;
  return typeof type === "string" ? PROSE_TYPES.has(plainName(type)) : names.join() === "text";
}
