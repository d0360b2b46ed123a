import { jsonrepair } from "jsonrepair";
import { copyJson } from "../json/copy-json.ts";
import type { JsonValue } from "../json/json.ts";
import { parseJson } from "../json/parse-json.ts";
import { type ClosedJson, scanJson } from "./scan-json.ts";

/** A parsed value, or the reason why it cannot be parsed. */
export type ReadJson =
  | { readonly ok: true; readonly value: JsonValue; readonly isRepaired: boolean }
  | { readonly ok: false; readonly reason: string };

/** Maximum number of missing or extra commas: the repair copies the text once for each. */
const MAX_SLIPS = 500;
/** Larger than the depth limit of a scan. */
const MAX_DEPTH = 200;
/** Larger than the largest accepted answer. */
const MAX_BYTES = 8 * 1_048_576;

/**
 * Parses scanned JSON and repairs its defects. A repair is accepted only when brackets, names and values are
 * the same as in the text, in the same order: it closes, adds and removes nothing.
 */
export function readJson(text: string, start: number, scanned: ClosedJson): ReadJson {
  if (scanned.duplicateName !== undefined)
    return refused(`one object has two fields ${scanned.duplicateName.slice(0, 80)}`);
  const plain = parse(text.slice(start, scanned.end));
  if (plain !== undefined) return safeCopy(plain, false);
  if (scanned.slips > MAX_SLIPS)
    return refused(`more than ${MAX_SLIPS} of its commas are missing or too many`);
  const repaired = repair(edited(text, start, scanned));
  if (repaired === undefined || !isSameJson(repaired, scanned)) return refused("it cannot be repaired");
  const value = parse(repaired);
  return value === undefined ? refused("it cannot be repaired") : safeCopy(value, true);
}

const refused = (reason: string): ReadJson => ({ ok: false, reason });

/** A copy in which no member changes a prototype. What no plan may have is refused by its reader. */
function safeCopy(parsed: JsonValue, isRepaired: boolean): ReadJson {
  const copy = copyJson(parsed, { maxDepth: MAX_DEPTH, maxBytes: MAX_BYTES });
  return copy.ok
    ? { ok: true, value: copy.value, isRepaired }
    : refused(`something in it is not JSON at ${copy.path}`);
}

function parse(text: string): JsonValue | undefined {
  const parsed = parseJson(text);
  return parsed.ok ? parsed.value : undefined;
}

/**
 * Applies the edits. Needed because the repair library does not support comments with #, and turns unescaped
 * apostrophes into double quotes.
 */
function edited(text: string, start: number, { end, edits }: ClosedJson): string {
  let plain = "";
  let from = start;
  for (const edit of edits) {
    plain += text.slice(from, edit.start) + edit.text;
    from = edit.end;
  }
  return plain + text.slice(from, end);
}

function repair(text: string): string | undefined {
  try {
    return jsonrepair(text);
  } catch (error) {
    // The library throws its own error for text that it cannot repair.
    if (error instanceof Error) return undefined;
    throw error;
  }
}

function isSameJson(repaired: string, { tokens }: ClosedJson): boolean {
  const again = scanJson(repaired, 0);
  return (
    again.type === "closed" &&
    again.tokens.length === tokens.length &&
    again.tokens.every((token, index) => token === tokens[index])
  );
}
