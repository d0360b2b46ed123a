import { isJsonObject, type JsonValue } from "../json.ts";
import { cut } from "../validation/findings.ts";

/** Nobody answers more at once. */
const MAX_QUESTIONS = 3;
const MAX_LENGTH = 300;
/** Fields in which a model says what it would have to know. */
const ASKING = new Set(["missing", "question", "questions", "clarification"]);
/** Models put into the same fields that nothing can do it; no answer would help. */
const NO_TOOL =
  /\b(?:no|none of the|any of the|without a|lacks? a|isn['’]?t a|there is not a) (?:[\w-]+ ){0,3}(?:tools?|functions?|capabilit(?:y|ies))\b/i;

/**
 * The questions in what a model gives instead of a plan, at most 3, each in one line; none when the field or its text says that nothing can do it.
 * @param field - under which the model says it
 */
export function questionsIn(field: string, texts: readonly string[]): string[] {
  const lines = texts.map((text) => text.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim());
  const said = [...new Set(lines)].filter((line) => line !== "");
  if (!ASKING.has(field) || said.some((line) => NO_TOOL.test(line))) return [];
  return said.slice(0, MAX_QUESTIONS).map((line) => toQuestion(cut(line, MAX_LENGTH)));
}

/** What models write where nothing is missing. */
const NOTHING = /^(?:none|nothing|no|n\/?a|null|nil|-)\b[^?]*$/i;

/** The questions that a model asks beside its plan: it made up what it asks for, or left it out. */
export function questionsBeside(document: JsonValue): string[] {
  if (!isJsonObject(document)) return [];
  return ["missing", "questions"].flatMap((field) => {
    const value = document[field] ?? [];
    const texts = (Array.isArray(value) ? value : [value]).filter((each) => typeof each === "string");
    return questionsIn(
      field,
      texts.filter((each) => !NOTHING.test(each.trim())),
    );
  });
}

const toQuestion = (line: string) => (line.endsWith("?") ? line : `Please say what is missing: ${line}`);
