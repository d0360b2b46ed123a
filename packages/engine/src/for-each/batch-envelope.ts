/**
 * Reads answers of batch tools that have the form of a forEach envelope: `{results: [{index, key, status,
 * data | error}], summary}`. The entries are then results of items, not their outputs.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "@planwright/plan";
import { type BatchResult, errorOfItem } from "./batch-result.ts";

const STATUSES: ReadonlySet<unknown> = new Set(["ok", "error", "skipped", "in_doubt"]);

/**
 * The result of each item, by the `index` of the entries, or by their order without valid indices. An item
 * without an entry is in doubt. Undefined when the answer is not an envelope, or when its entries do not
 * match the items.
 * @param sent - number of items sent; absent when it is not known: then every entry is of one item
 */
export function readEnvelope(answer: JsonValue | undefined, sent?: number): BatchResult[] | undefined {
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
