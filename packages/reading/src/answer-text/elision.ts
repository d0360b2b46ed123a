import { isJsonObject, type JsonObject, type JsonValue } from "@planwright/plan";

const ELLIPSIS = /\.{3}|…/;
/** Words in a comment that replaces calls or values which the model left out. */
const LEFT_OUT =
  /\b(?:etc|and so on|and so forth|omitted|abbreviated|truncated|elided|similarly|likewise|repeat(?:ed)? for|same for|continued?|as above|(?:the )?rest (?:of|is|are|goes|follows?|here)|remaining (?:steps?|calls?|tools?|items?|ones|entries|authors?|parameters|arguments|fields)|(?:more|other|further|additional) (?:steps?|calls?|tools?|items?|entries|arguments|fields)(?: (?:here|follow|below|go|as|for|would|can|if))?$)\b/i;

/** True for a comment that replaces something which was left out. */
export function isElidingComment(comment: string): boolean {
  return ELLIPSIS.test(comment) || LEFT_OUT.test(comment.trim());
}

/** The end of the ellipsis at a position; undefined when there is none. */
export function endOfEllipsis(text: string, at: number): number | undefined {
  if (text.charAt(at) === "…") return at + 1;
  if (!text.startsWith("...", at)) return undefined;
  let end = at + 3;
  while (text.charAt(end) === ".") end++;
  return end;
}

/**
 * True for a plan in which an ellipsis replaces calls, as a text or as a name: `[{..}, "..."]`, `{"...": "..."}`.
 */
export function hasElidedCalls(document: JsonObject | JsonValue[]): boolean {
  if (Array.isArray(document)) return document.some(isElided);
  return (
    Object.keys(document).some(isEllipsis) ||
    Object.values(document).some((value) => Array.isArray(value) && value.some(isElided))
  );
}

function isElided(item: JsonValue): boolean {
  if (typeof item === "string") return isEllipsis(item) || isElidingComment(item.slice(0, 200));
  return isJsonObject(item) && Object.keys(item).some(isEllipsis);
}

function isEllipsis(text: string): boolean {
  return /^(?:\.{3,20}|…)$/.test(text.trim());
}
