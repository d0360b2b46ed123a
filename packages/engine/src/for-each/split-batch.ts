import { isJsonObject, type JsonValue } from "@planwright/plan";
import type { StepNode } from "../state/engine-state.ts";
import type { StepError } from "../state/protocol.ts";
import { readEnvelope } from "./batch-envelope.ts";
import { type BatchResult, errorOfItem } from "./batch-result.ts";

/**
 * The result of each item of a batch, in the order sent. An answer that is the envelope of a forEach itself
 * is unwrapped. Any other list is found at `resultPath` (dots between names; absent: the output itself, or
 * its `results`), and an element that says `isError`, `status: "error"` or carries an `error` is that item's
 * failure. Undefined when there is no list with one element for each item.
 */
export function splitBatch(node: StepNode, output: JsonValue, count: number): BatchResult[] | undefined {
  const unwrapped = unwrapBatch(node, output, count);
  if (unwrapped) return unwrapped;
  const { batch } = node.tool.contract;
  // Only where the contract does not say where the list is, the usual name is looked for.
  const answer = atPath(output, batch?.resultPath);
  const isNamed = (batch?.resultPath ?? "") !== "";
  const list =
    !isNamed && isJsonObject(answer) && Object.hasOwn(answer, "results") ? answer["results"] : answer;
  if (!Array.isArray(list) || list.length !== count) return undefined;
  return list.map((element) => {
    const error = errorOf(element);
    return error ? { status: "FAILED", error } : { status: "COMPLETED", output: element };
  });
}

/**
 * The results of an answer that is the envelope itself, whole or at `resultPath`; undefined for every other
 * answer.
 */
export function unwrapBatch({ tool }: StepNode, output: JsonValue, count: number): BatchResult[] | undefined {
  const { batch, sideEffects } = tool.contract;
  if (!batch) return undefined;
  const found = readEnvelope(output, count) ?? readEnvelope(atPath(output, batch.resultPath), count);
  // A read is in no doubt: it can be made again.
  return found?.map((result) =>
    result.status === "IN_DOUBT" && !sideEffects ? { ...result, status: "FAILED" } : result,
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
