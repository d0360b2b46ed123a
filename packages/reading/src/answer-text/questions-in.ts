import { isJsonObject, type JsonValue } from "@planwright/plan";
import { cut } from "@planwright/plan/internal";

/** Maximum number of questions: users do not answer more in one free text. */
const MAX_QUESTIONS = 3;
const MAX_LENGTH = 300;
/** Fields in which a model names missing information. */
const ASKING = new Set(["missing", "question", "questions", "clarification"]);
/** Texts in these fields which say that no tool can do it; no answer would help. */
const NO_TOOL =
  /\b(?:no|none of the|any of the|without a|lacks? a|isn['’]?t a|there is not a) (?:[\w-]+ ){0,3}(?:tools?|functions?|capabilit(?:y|ies))\b/i;

/** A question of a model, and its argument if the model names it. */
export interface ModelQuestion {
  readonly question: string;
  readonly step?: string | undefined;
  readonly parameter?: string | undefined;
}

/**
 * The questions of a model that gave no plan, at most 3, each in one line; none when the field or its text
 * says that no tool can do it.
 * @param field - name of the field with the texts
 */
export function questionsIn(field: string, texts: readonly string[]): string[] {
  const lines = texts.map(inOneLine);
  const said = [...new Set(lines)].filter((line) => line !== "");
  if (!ASKING.has(field) || said.some((line) => NO_TOOL.test(line))) return [];
  return said.slice(0, MAX_QUESTIONS).map((line) => toQuestion(cut(line, MAX_LENGTH)));
}

/** Texts that mean: nothing is missing. */
const NOTHING = /^(?:none|nothing|no|n\/?a|null|nil|-)\b[^?]*$/i;

/** The questions that a model asks in addition to its plan: it invented the missing value, or left it out. */
export function questionsBeside(document: JsonValue): ModelQuestion[] {
  if (!isJsonObject(document)) return [];
  return ["missing", "questions"].flatMap((field) => {
    const value = document[field] ?? [];
    const found = (Array.isArray(value) ? value : [value]).flatMap((each) => readQuestion(each) ?? []);
    const real = found.filter(({ question }) => !NOTHING.test(question.trim()));
    const named = real.filter(({ step, parameter }) => step !== undefined && parameter !== undefined);
    const inWords = real.filter((each) => !named.includes(each)).map(({ question }) => question);
    return [...named, ...questionsIn(field, inWords).map((question) => ({ question }))];
  });
}

/** Field names of a question object. */
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

/** Parses a question: a text, or `{step, parameter, question}`; otherwise undefined. */
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

/** "createAuthor.email: Which address?" begins with the step and the argument. */
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
