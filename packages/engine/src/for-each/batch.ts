import {
  argumentsOfStep,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type SecretPlace,
  scanReferences,
  secretPlaces,
} from "@planwright/plan";
import type { StepError } from "../protocol.ts";
import type { StepNode } from "../state/engine-state.ts";

/** Up to this many items are called one by one, even when the tool takes batches. */
const MAX_SINGLE_ITEMS = 3;

/**
 * Items per call: `batch.max` of the tool for more than three items, otherwise 1. Where the planned arguments name the batch
 * parameter, every other argument must be the same for all items; an argument that depends on the item rules batches out,
 * and so does a secret that would be part of the batch.
 */
export function batchSize(node: StepNode, itemCount: number, alias: string): number {
  const { batch } = node.tool.contract;
  if (!batch || itemCount <= MAX_SINGLE_ITEMS) return 1;
  const planned = argumentsOfStep(node.step);
  // Where a secret is to be put in must be where the plan wrote it.
  const isMoved = ({ keys: [name] }: SecretPlace): boolean =>
    name === batch.param || !Object.hasOwn(planned, batch.param);
  if (secretPlaces(planned).some(isMoved)) return 1;
  if (!Object.hasOwn(planned, batch.param)) return batch.max;
  const { [batch.param]: _, ...shared } = planned;
  const dependsOnItem = scanReferences(shared).some(({ root }) => root === alias || root === "index");
  return dependsOnItem ? 1 : batch.max;
}

/**
 * The arguments of one call for several items, from the arguments that each would have had alone.
 * With the batch parameter planned, its values form the list (a list of one stands for its element) and the rest is shared.
 * Otherwise each list element is the item's arguments, or their only value where the schema wants no objects.
 */
export function batchArguments(node: StepNode, each: readonly JsonObject[]): JsonObject {
  const param = node.tool.contract.batch?.param ?? "items";
  const isPlanned = each[0] !== undefined && Object.hasOwn(each[0], param);
  if (isPlanned) {
    const list = each.map((one) => {
      const value = one[param] ?? null;
      return Array.isArray(value) && value.length === 1 ? (value[0] ?? null) : value;
    });
    return { ...each[0], [param]: list };
  }
  const wantsScalars = elementType(node, param) !== "object";
  return {
    [param]: each.map((one) => {
      const values = Object.values(one);
      return wantsScalars && values.length === 1 ? (values[0] ?? null) : one;
    }),
  };
}

/** JSON type of the list's elements by the tool's input schema; "object" where it does not say. */
function elementType(node: StepNode, param: string): JsonValue {
  const properties = node.tool.descriptor?.inputSchema?.["properties"];
  const list = isJsonObject(properties) ? properties[param] : undefined;
  const elements = isJsonObject(list) ? list["items"] : undefined;
  return isJsonObject(elements) ? (elements["type"] ?? "object") : "object";
}

/** What one item got out of a batch. */
export type BatchResult = { ok: true; output: JsonValue } | { ok: false; error: StepError };

/**
 * The result of each item, in the order sent. The list is found at `resultPath` (dots between names; absent: the output
 * itself, or its `results`). An element that says `isError`, `status: "error"` or carries an `error` is that item's failure.
 * Undefined when there is no list with one element for each item.
 */
export function splitBatch(node: StepNode, output: JsonValue, count: number): BatchResult[] | undefined {
  const list = resultList(output, node.tool.contract.batch?.resultPath);
  if (!Array.isArray(list) || list.length !== count) return undefined;
  return list.map((element) => {
    const error = errorOf(element);
    return error ? { ok: false, error } : { ok: true, output: element };
  });
}

function resultList(output: JsonValue, path: string | undefined): JsonValue | undefined {
  if (path === undefined || path === "") {
    return isJsonObject(output) && Object.hasOwn(output, "results") ? output["results"] : output;
  }
  let value: JsonValue | undefined = output;
  for (const name of path.split(".")) {
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
  const facts = isJsonObject(error) ? error : element;
  const code = typeof facts["code"] === "string" ? facts["code"] : "TOOL_FAILED";
  const text = typeof error === "string" ? error : facts["message"];
  const message = typeof text === "string" ? text : "The tool reported an error for this item";
  return { code, message, retryable: false };
}
