import { isExactNumber, isJsonObject, type JsonValue, type PlanningContext } from "@planwright/plan";
import { findMoments, nowText, readingText, type SaidMoment } from "@planwright/reading";
import { cleanText, dataText } from "./clean-text.ts";
import { estimateTokens } from "./estimate-tokens.ts";
import { MAX_FACTS_TOKENS } from "./prompt-budget.ts";
import { shortened } from "./shortened.ts";

const MAX_DEPTH = 100;
/** Longer facts are not accepted. */
const MAX_CHARS = 16_384;

/**
 * Time and place as data: the current time and zone, the caller's facts, and the meanings of the request's
 * words for days and moments. Facts are complete while they cost at most `MAX_FACTS_TOKENS`. Empty without a
 * context. Pure.
 */
export function contextText(query: string, context: PlanningContext | undefined): string {
  if (!context) return "";
  const { timezone, locale, facts } = context;
  const timeAndPlace = [
    nowText(context),
    ...(timezone === "UTC" ? [] : [timezone]),
    ...(locale === null ? [] : [locale]),
  ];
  const lines = [
    `now ${timeAndPlace.join(" ")}`,
    ...(Object.keys(facts).length > 0 ? [`facts ${factsText(facts)}`] : []),
    ...new Set(findMoments(query, context).moments.map(momentLine)),
  ];
  return `<context>\n${lines.join("\n")}\n</context>\n`;
}

const momentLine = ({ text, readings }: SaidMoment): string =>
  `${dataText(cleanText(text, 100))} = ${readings.map(readingText).join(" or ")}`;

function factsText(facts: JsonValue): string {
  const complete = dataText(cleaned(facts, MAX_DEPTH));
  if (estimateTokens(complete) <= MAX_FACTS_TOKENS) return complete;
  let max = MAX_FACTS_TOKENS * 3;
  let text = dataText(shortened(facts, max));
  while (estimateTokens(text) > MAX_FACTS_TOKENS) {
    max = Math.floor(max / 2);
    text = dataText(shortened(facts, max));
  }
  return text;
}

/** The value without invisible characters, which can carry instructions. */
function cleaned(value: JsonValue, depth: number): JsonValue {
  if (typeof value === "string") return isExactNumber(value) ? value : cleanText(value, MAX_CHARS);
  if (depth === 0 || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => cleaned(each, depth - 1));
  if (!isJsonObject(value)) return null;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [cleanText(name, MAX_CHARS), cleaned(each, depth - 1)]),
  );
}
