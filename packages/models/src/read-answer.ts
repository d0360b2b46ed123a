import { isJsonObject } from "@planwright/plan";
import { jsonrepair } from "jsonrepair";
import { balancedJson, type JsonSpan } from "./balanced-json.ts";

/** Longest answer that is read, in characters. */
const MAX_LENGTH = 1_048_576;

/** What a model's answer holds. */
export type ReadAnswer =
  /** A value that may be a plan. `isRepaired` when it was not valid JSON as it stood. */
  | { ok: true; value: unknown; isRepaired: boolean }
  /** The model says that it cannot plan this, in its own words. */
  | { ok: false; reason: "declined"; message: string }
  /** `truncated`: it was cut off, and closing its brackets would invent a plan. */
  | { ok: false; reason: "truncated" | "unreadable"; message: string };

/**
 * Reads the JSON in a model's answer: as it stands, in a code fence, or in prose; with trailing commas, comments and wrong quotes put
 * right. Pure. A cut answer is refused, and no value is ever added.
 * @param finishReason - the provider's word; "length" and "max_tokens" mean cut off
 */
export function readAnswer(
  text: string,
  { finishReason = null }: { finishReason?: string | null } = {},
): ReadAnswer {
  if (finishReason === "length" || finishReason === "max_tokens") return truncated;
  if (text.length > MAX_LENGTH) return unreadable(`it is longer than ${MAX_LENGTH} characters`);
  const said = withoutThinking(text).trim();
  if (said === "") return unreadable("it is empty");
  const plain = parsed(said);
  if (plain) return plan(plain.value, false);
  const spans = jsonSpans(said);
  if (spans.length === 0) return unreadable("it holds no JSON object");
  if (spans.some((span) => !span.isClosed)) return truncated;
  for (const span of spans) {
    const read = parsed(span.text);
    if (read) return plan(read.value, false);
  }
  const repaired = repair(spans[0]?.text ?? "");
  return repaired ? plan(repaired.value, true) : unreadable("its JSON cannot be put right");
}

const truncated: ReadAnswer = { ok: false, reason: "truncated", message: "the answer was cut off" };
const unreadable = (message: string): ReadAnswer => ({ ok: false, reason: "unreadable", message });

/** Some models think aloud first, between tags of their own. */
function withoutThinking(text: string): string {
  for (const tag of ["think", "thinking", "reasoning"]) {
    const end = text.lastIndexOf(`</${tag}>`);
    if (end !== -1) return text.slice(end + tag.length + 3);
  }
  return text;
}

/** Code fences first, then the first JSON in the prose. */
function jsonSpans(text: string): JsonSpan[] {
  const spans: JsonSpan[] = [];
  for (let open = text.indexOf("```"); open !== -1; ) {
    const body = text.indexOf("\n", open);
    const close = body === -1 ? -1 : text.indexOf("```", body);
    if (close === -1) break;
    const span = balancedJson(text.slice(body + 1, close), 0);
    if (span) spans.push(span);
    open = text.indexOf("```", close + 3);
  }
  if (spans.length > 0) return longestFirst(spans);
  for (let at = 0; at < text.length && spans.length < 20; ) {
    const span = balancedJson(text, at);
    if (!span) break;
    spans.push(span);
    at = span.end;
  }
  return longestFirst(spans);
}

/** A plan is longer than what stands in brackets beside it. */
const longestFirst = (spans: readonly JsonSpan[]) =>
  spans.toSorted((left, right) => right.text.length - left.text.length);

function parsed(text: string): { value: unknown } | null {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "string") return parsed(value);
    return typeof value === "object" && value !== null ? { value } : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function repair(text: string): { value: unknown } | null {
  try {
    return parsed(jsonrepair(text));
  } catch (error) {
    if (error instanceof Error) return null;
    throw error;
  }
}

/** Takes the plan out of wrappers, and hears a model that says it cannot plan. */
function plan(value: unknown, isRepaired: boolean): ReadAnswer {
  if (!isJsonObject(value)) return { ok: true, value, isRepaired };
  const inner = Object.hasOwn(value, "plan") ? value["plan"] : undefined;
  if (isJsonObject(inner) || Array.isArray(inner)) return plan(inner, isRepaired);
  if (!Object.hasOwn(value, "missing")) return { ok: true, value, isRepaired };
  const { missing, ...rest } = value;
  const hasSteps = Array.isArray(rest["steps"]) && rest["steps"].length > 0;
  if (!hasSteps && typeof missing === "string" && missing.trim() !== "") {
    return { ok: false, reason: "declined", message: missing.trim().slice(0, 1_000) };
  }
  return { ok: true, value: rest, isRepaired };
}
