import { cut } from "../diagnostics/diagnostic-collector.ts";
import { isJsonObject, type JsonValue } from "../json/json.ts";

/** No user answers more at once in her own words. */
const MAX_QUESTIONS = 3;
const MAX_LENGTH = 300;
/** Fields in which a model says what it would have to know. */
const ASKING = new Set(["missing", "question", "questions", "clarification"]);
/** Models put into the same fields that nothing can do it; no answer would help. */
const NO_TOOL =
  /\b(?:no|none of the|any of the|without a|lacks? a|isn['’]?t a|there is not a) (?:[\w-]+ ){0,3}(?:tools?|functions?|capabilit(?:y|ies))\b/i;

/** What a model asks, and about which argument, where it says so. */
export interface ModelQuestion {
  readonly question: string;
  readonly step?: string | undefined;
  readonly parameter?: string | undefined;
}

/**
 * The questions in what a model gives instead of a plan, at most 3, each in one line; none when the field or
 * its text says that nothing can do it.
 * @param field - under which the model says it
 */
export function questionsIn(field: string, texts: readonly string[]): string[] {
  const lines = texts.map(inOneLine);
  const said = [...new Set(lines)].filter((line) => line !== "");
  if (!ASKING.has(field) || said.some((line) => NO_TOOL.test(line))) return [];
  return said.slice(0, MAX_QUESTIONS).map((line) => toQuestion(cut(line, MAX_LENGTH)));
}

/** What models write where nothing is missing. */
const NOTHING = /^(?:none|nothing|no|n\/?a|null|nil|-)\b[^?]*$/i;

/** The questions that a model asks beside its plan: it made up what it asks for, or left it out. */
export function questionsBeside(document: JsonValue): ModelQuestion[] {
  if (!isJsonObject(document)) return [];
  return ["missing", "questions"].flatMap((field) => {
    const value = document[field] ?? [];
    const asked = (Array.isArray(value) ? value : [value]).flatMap((each) => readQuestion(each) ?? []);
    const real = asked.filter(({ question }) => !NOTHING.test(question.trim()));
    const named = real.filter(({ step, parameter }) => step !== undefined && parameter !== undefined);
    const inWords = real.filter((each) => !named.includes(each)).map(({ question }) => question);
    return [...named, ...questionsIn(field, inWords).map((question) => ({ question }))];
  });
}

/** Names of the fields of a question that is an object. */
const FIELDS = new Set([
  "step",
  "stepid",
  "step_id",
  "tool",
  "parameter",
  "argument",
  "field",
  "name",
  "question",
  "reason",
]);

/**
 * A question as a text, or as `{step, parameter, question}`; undefined for anything else, which is no
 * question.
 */
export function readQuestion(value: JsonValue): ModelQuestion | undefined {
  if (typeof value === "string") return ofText(value);
  if (!isJsonObject(value) || !Object.keys(value).every((name) => FIELDS.has(name.toLowerCase())))
    return undefined;
  const textOf = (...names: string[]): string | undefined =>
    names.flatMap((name) => textIn(value[name])).at(0);
  const step = textOf("step", "stepId", "step_id", "tool");
  const parameter = textOf("parameter", "argument", "field", "name");
  const question = textOf("question", "reason") ?? (parameter && `What should "${parameter}" be?`);
  if (question === undefined) return undefined;
  return {
    question: cut(inOneLine(question), MAX_LENGTH),
    ...(step !== undefined && { step }),
    ...(parameter !== undefined && { parameter }),
  };
}

/** "createAuthor.email: Which address?" names the step and the argument in front. */
const NAMED = /^\s*([A-Za-z][\w-]{0,63})\.([\w.[\]-]{1,200}):\s+(\S.*)$/s;

function ofText(text: string): ModelQuestion {
  const [, step, parameter, question] = NAMED.exec(text) ?? [];
  if (step === undefined || parameter === undefined || question === undefined) return { question: text };
  return { question: cut(inOneLine(question), MAX_LENGTH), step, parameter };
}

const textIn = (value: JsonValue | undefined): string[] =>
  typeof value === "string" && value.trim() !== "" ? [value] : [];
const inOneLine = (text: string) => text.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim();
const toQuestion = (line: string) => (line.endsWith("?") ? line : `Please say what is missing: ${line}`);
