import { isJsonObject, type JsonValue } from "@planwright/plan";
import type { StepNode } from "../state/engine-state.ts";
import type { StepError } from "../state/protocol.ts";
import { readEnvelope } from "./batch-envelope.ts";
import { type BatchResult, errorOfItem } from "./batch-result.ts";

/**
 * The result of each item of a batch, in the order sent. An answer in the form of a forEach envelope is
 * unwrapped. Any other list is read at `resultPath` (dots between names; absent: the output itself, or its
 * `results`); an element with `isError`, `status: "error"` or an `error` is a failure of its item. Undefined
 * when there is no list with one element for each item.
 */
export function splitBatch(node: StepNode, output: JsonValue, count: number): BatchResult[] | undefined {
  const unwrapped = unwrapBatch(node, output, count);
  if (unwrapped) return unwrapped;
  const { batch } = node.tool.contract;
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
  { tool }: StepNode,
  output: JsonValue,
  count?: number,
): BatchResult[] | undefined {
  const { batch } = tool.contract;
  if (!batch) return undefined;
  const found = readEnvelope(output, count) ?? readEnvelope(atPath(output, batch.resultPath), count);
  // A read is never in doubt: it can be repeated.
  return found?.map((result) =>
    result.status === "IN_DOUBT" && tool.onlyReads ? { ...result, status: "FAILED" } : result,
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
