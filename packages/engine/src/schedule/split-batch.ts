import {
  argumentsOfStep,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonTypesOf,
  type SecretPlace,
  scanReferences,
  secretPlaces,
} from "@planwright/plan";
import type { ArgumentsNode } from "../state/arguments.ts";
import type { BatchResult, BatchTool, StepError } from "../state/protocol.ts";

/**
 * The result of each item of a batch, in the order sent. An answer in the form of a forEach envelope is
 * unwrapped. Any other list is read at `resultPath` (dots between names; absent: the output itself, or its
 * `results`); an element with `isError`, `status: "error"` or an `error` is a failure of its item. Undefined
 * when there is no list with one element for each item.
 */
export function splitBatch(tool: BatchTool, output: JsonValue, count: number): BatchResult[] | undefined {
  const unwrapped = unwrapBatch(tool, output, count);
  if (unwrapped) return unwrapped;
  const { batch } = tool;
  // The usual name `results` is tried only when the contract has no `resultPath`.
  const answer = atPath(output, batch?.resultPath);
  const isNamed = (batch?.resultPath ?? "") !== "";
  const list =
    !isNamed && isJsonObject(answer) && Object.hasOwn(answer, "results") ? answer["results"] : answer;
  const elements = listOf(list, count);
  if (elements?.length !== count) return undefined;
  return elements.map((element) => {
    const error = errorOf(element);
    return error ? { status: "FAILED", error } : { status: "COMPLETED", output: element };
  });
}

/** The list of results; servers unwrap a list of one. */
function listOf(list: JsonValue | undefined, count: number): readonly JsonValue[] | undefined {
  if (Array.isArray(list)) return list;
  return count === 1 && isJsonObject(list) ? [list] : undefined;
}

/**
 * The results of an answer that is an envelope, directly or at `resultPath`; undefined for every other
 * answer.
 * @param count - number of items sent; absent when it is not known
 */
export function unwrapBatch(
  { batch, onlyReads }: BatchTool,
  output: JsonValue,
  count?: number,
): BatchResult[] | undefined {
  if (!batch) return undefined;
  const found = readEnvelope(output, count) ?? readEnvelope(atPath(output, batch.resultPath), count);
  // A read is never in doubt: it can be repeated.
  return found?.map((result) =>
    result.status === "IN_DOUBT" && onlyReads ? { ...result, status: "FAILED" } : result,
  );
}

function atPath(output: JsonValue, path = ""): JsonValue | undefined {
  let value: JsonValue | undefined = output;
  for (const name of path === "" ? [] : path.split(".")) {
    if (Array.isArray(value)) value = value[Number(name)];
    else value = isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return value;
}

function errorOf(element: JsonValue): StepError | undefined {
  if (!isJsonObject(element)) return undefined;
  const { error } = element;
  const hasError = (typeof error === "string" && error !== "") || isJsonObject(error);
  if (element["isError"] !== true && element["status"] !== "error" && !hasError) return undefined;
  return errorOfItem(element, "The tool reported an error for this item");
}

/*
 * Reads answers of batch tools that have the form of a forEach envelope: `{results: [{index, key, status,
 * data | error}], summary}`. The entries are then results of items, not their outputs.
 */

const STATUSES: ReadonlySet<unknown> = new Set(["ok", "error", "skipped", "in_doubt"]);

/**
 * The result of each item, by the `index` of the entries, or by their order without valid indices. An item
 * without an entry is in doubt. Undefined when the answer is not an envelope, or when its entries do not
 * match the items.
 * @param sent - number of items sent; absent when it is not known: then every entry is of one item
 */
function readEnvelope(answer: JsonValue | undefined, sent?: number): BatchResult[] | undefined {
  const entries = entriesOf(answer);
  if (!entries) return undefined;
  const count = sent ?? entries.length;
  const indices = entries.map(({ index }) => index);
  const isInRange = indices.every((index) => isInteger(index) && index >= 0 && index < count);
  if (!isInRange || new Set(indices).size < entries.length) {
    return entries.length === count ? entries.map(resultOf) : undefined;
  }
  const byIndex = new Map(entries.map((entry) => [entry["index"], entry]));
  return Array.from({ length: count }, (_, index) => {
    const entry = byIndex.get(index);
    return entry ? resultOf(entry) : MISSING;
  });
}

const MISSING: BatchResult = {
  status: "IN_DOUBT",
  error: {
    code: "TOOL_RESULT_INVALID",
    message: "The tool gave no result for this item",
    retryable: false,
  },
};

/** The entries of an envelope; undefined for any other answer with `results`. */
function entriesOf(answer: JsonValue | undefined): JsonObject[] | undefined {
  if (!isJsonObject(answer) || !Array.isArray(answer["results"])) return undefined;
  const entries = answer["results"].filter(isEntry);
  if (entries.length !== answer["results"].length) return undefined;
  const isEnvelope = isJsonObject(answer["summary"]) || entries.every(({ index }) => isInteger(index));
  return isEnvelope ? entries : undefined;
}

function isEntry(element: JsonValue): element is JsonObject {
  if (!isJsonObject(element) || !STATUSES.has(element["status"])) return false;
  return element["status"] !== "ok" || Object.hasOwn(element, "data");
}

function isInteger(index: JsonValue | undefined): index is number {
  return typeof index === "number" && Number.isInteger(index);
}

function resultOf(entry: JsonObject): BatchResult {
  switch (entry["status"]) {
    case "ok":
      return { status: "COMPLETED", output: entry["data"] ?? null };
    case "in_doubt":
      return { status: "IN_DOUBT", error: errorOfItem(entry, "The tool does not know whether it acted") };
    case "skipped":
      return { status: "FAILED", error: errorOfItem(entry, "The tool skipped this item") };
    default:
      return { status: "FAILED", error: errorOfItem(entry, "The tool reported an error for this item") };
  }
}

/**
 * The error of one element in a batch answer.
 * @param fallback - message for an element without one
 */
function errorOfItem(element: JsonObject, fallback: string): StepError {
  const { error } = element;
  const details = isJsonObject(error) ? error : element;
  const code = typeof details["code"] === "string" ? details["code"] : "TOOL_FAILED";
  const text = typeof error === "string" && error !== "" ? error : details["message"];
  return { code, message: typeof text === "string" ? text : fallback, retryable: false };
}

/** Up to this many items are called one by one, even when the tool accepts batches. */
const MAX_SINGLE_ITEMS = 3;

/**
 * Items per call: `batch.max` of the tool for more than three items, otherwise 1. When the planned arguments
 * contain the batch parameter, every other argument must be the same for all items: an argument that depends
 * on the item excludes batches. A secret that would move into the batch excludes them too.
 */
export function batchSize(
  node: Omit<ArgumentsNode, "dependencies">,
  itemCount: number,
  alias: string,
): number {
  const { batch } = node.tool.contract;
  if (!batch || itemCount <= MAX_SINGLE_ITEMS) return 1;
  const planned = argumentsOfStep(node.step);
  // A secret must be inserted at the path where the plan wrote it.
  const isMoved = ({ keys: [name] }: SecretPlace): boolean =>
    name === batch.param || !Object.hasOwn(planned, batch.param);
  if (secretPlaces(planned).some(isMoved)) return 1;
  if (!Object.hasOwn(planned, batch.param)) return batch.max;
  const { [batch.param]: _, ...shared } = planned;
  const dependsOnItem = scanReferences(shared).some(({ root }) => root === alias || root === "index");
  return dependsOnItem ? 1 : batch.max;
}

/**
 * The arguments of one call for several items, from the arguments of each item. When the plan sets the batch
 * parameter, its values form the list (a list with one element counts as that element) and the other
 * arguments are shared. Otherwise each list element is the arguments of an item, or their only value when the
 * schema does not expect objects.
 */
export function batchArguments(node: ArgumentsNode, argumentsOfEach: readonly JsonObject[]): JsonObject {
  const param = node.tool.contract.batch?.param ?? "items";
  const isPlanned = argumentsOfEach[0] !== undefined && Object.hasOwn(argumentsOfEach[0], param);
  if (isPlanned) {
    const list = argumentsOfEach.map((itemArguments) => {
      const value = itemArguments[param] ?? null;
      return Array.isArray(value) && value.length === 1 ? (value[0] ?? null) : value;
    });
    return { ...argumentsOfEach[0], [param]: list };
  }
  const wantsScalars = elementType(node, param) !== "object";
  return {
    [param]: argumentsOfEach.map((itemArguments) => {
      const values = Object.values(itemArguments);
      return wantsScalars && values.length === 1 ? (values[0] ?? null) : itemArguments;
    }),
  };
}

/**
 * The schema of one item's arguments, as {@link batchArguments} uses them. When the plan sets the batch
 * parameter, its value is an element of the list or a list with one element. Otherwise the arguments are an
 * element, or their only value is one. Undefined when the tool has no input schema.
 */
export function batchItemSchema(node: ArgumentsNode): JsonObject | undefined {
  const schema = node.tool.descriptor?.inputSchema;
  const param = node.tool.contract.batch?.param ?? "items";
  const properties = schema?.["properties"];
  const list = isJsonObject(properties) ? properties[param] : undefined;
  const elements = isJsonObject(list) ? list["items"] : undefined;
  if (!schema || !isJsonObject(properties) || list === undefined || elements === undefined) return schema;
  if (Object.hasOwn(argumentsOfStep(node.step), param))
    return { ...schema, properties: { ...properties, [param]: { anyOf: [list, elements] } } };
  const { $defs, definitions } = schema;
  const item = elementType(node, param) === "object" ? elements : { additionalProperties: elements };
  return {
    ...(isJsonObject(item) ? item : {}),
    ...($defs && { $defs }),
    ...(definitions && { definitions }),
  };
}

/** JSON type of the list's elements in the tool's input schema; "object" when it has none. */
function elementType(node: ArgumentsNode, param: string): JsonValue {
  const properties = node.tool.descriptor?.inputSchema?.["properties"];
  const list = isJsonObject(properties) ? properties[param] : undefined;
  const elements = isJsonObject(list) ? list["items"] : undefined;
  return (isJsonObject(elements) ? jsonTypesOf(elements["type"])?.[0] : undefined) ?? "object";
}
