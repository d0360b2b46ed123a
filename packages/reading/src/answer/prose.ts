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

/**
 * Texts that mean: nothing is missing ("None.", "No further information is needed"). "No title was given" names
 * something that is missing.
 */
const NOTHING =
  /^(?:n\/?a\b|null\b|nil\b|-)[^?]*$|^(?:none|nothing|no)(?:$|[.,;:!(–—-]|\s[^?]*\b(?:missing|needed|required|necessary|further|additional|else|questions?|clarifications?)\b)[^?]*$/i;

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

/** Finish reasons of providers for an answer that reached its length limit. */
const LENGTH_REASONS = new Set([
  "length",
  "max_tokens",
  "max_output_tokens",
  "model_length",
  "token_limit",
  "model_context_window_exceeded",
]);
/** Finish reasons of providers for an answer that was withheld. */
const REFUSAL_REASONS = new Set([
  "content_filter",
  "content_filtered",
  "guardrail_intervened",
  "refusal",
  "safety",
  "recitation",
  "blocklist",
  "prohibited_content",
  "spii",
]);

/** The meaning of a finish reason of any provider. */
export function meaningOfFinish(reason: string | null | undefined): "cut" | "refused" | "complete" {
  const word = (reason ?? "").toLowerCase();
  if (LENGTH_REASONS.has(word)) return "cut";
  return REFUSAL_REASONS.has(word) ? "refused" : "complete";
}

/** Only this number of characters is checked: refusals are at the beginning, later text is usually advice. */
const MAX_CHECKED_CHARS = 600;
const REFUSALS: readonly RegExp[] = [
  /\b(?:i['’]?m|i am|we['’]?re|we are) (?:very |so |really |truly )?(?:sorry|unable|not able|not allowed|not permitted)\b/i,
  /\b(?:i|we) (?:can['’]?t|cannot|can not|won['’]?t|will not|must decline|have to decline|decline|refuse)\b/i,
  /\bi (?:do not|don['’]?t) (?:have (?:access|the ability|any tool|a tool)|feel comfortable)/i,
  /^\W*(?:sorry|unfortunately|apologies|my apologies|i apologi[sz]e)\b/i,
  /\bas an ai\b/i,
  /\bnone of the (?:available |given |provided )?tools\b/i,
  /\b(?:es tut mir leid|ich kann (?:das|dabei|dies|ihnen|dir)? ?(?:leider )?nicht|lo siento|no puedo|je suis désolé|je ne peux pas|mi dispiace|desculpe|não posso)/i,
  /(?:抱歉|对不起|無法|无法|申し訳|できません|죄송)/,
];

/**
 * True for prose in which a model says that it will not or cannot do the request. Only called when there is
 * no plan.
 */
export function isRefusal(prose: string): boolean {
  const beginning = prose.slice(0, MAX_CHECKED_CHARS);
  return REFUSALS.some((pattern) => pattern.test(beginning));
}

const NAMES = "think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis";
/** Only at the beginning of a line: inside a text of the plan the same words are data. */
const OPENING = new RegExp(`(?:^|\\n)[ \\t]*(?:<(${NAMES})>|(\\[THINK\\])|(◁think▷))`, "gi");
/**
 * An end tag without a begin tag, because some chat templates put the begin tag into the prompt. Only at the
 * beginning or end of a line.
 */
const LONE_END = new RegExp(`(?:</(?:${NAMES})>|\\[/THINK\\]|◁/think▷)[ \\t]*(?=\\r?\\n|[{[\`]|$)`, "gi");
/** Marks the text for the user in the harmony format. */
const FINAL_CHANNEL = "<|channel|>final<|message|>";

/** An answer without its thinking. */
interface Said {
  readonly text: string;
  /** False when the answer ends inside or directly after its thinking. */
  readonly isComplete: boolean;
}

/** Removes the thinking that models put between tags: plans that were drafted there are not the answer. */
export function withoutThinking(answer: string): Said {
  const final = answer.lastIndexOf(FINAL_CHANNEL);
  if (final !== -1) return { text: answer.slice(final + FINAL_CHANNEL.length), isComplete: true };
  let said = "";
  let from = 0;
  OPENING.lastIndex = 0;
  for (let open = OPENING.exec(answer); open; open = OPENING.exec(answer)) {
    const closing = closingOf(open);
    const end = indexOfIgnoringCase(answer, closing, OPENING.lastIndex);
    if (end === -1) return { text: "", isComplete: false };
    said += `${answer.slice(from, open.index)}\n`;
    from = end + closing.length;
    OPENING.lastIndex = from;
  }
  const text = afterLoneEnd(said + answer.slice(from));
  return { text, isComplete: text.trim() !== "" || answer.trim() === "" };
}

function closingOf([, name, mistral]: RegExpExecArray): string {
  if (name !== undefined) return `</${name}>`;
  return mistral === undefined ? "◁/think▷" : "[/THINK]";
}

function indexOfIgnoringCase(text: string, wanted: string, from: number): number {
  const pattern = new RegExp(wanted.replace(/[[\]/]/g, "\\$&"), "gi");
  pattern.lastIndex = from;
  return pattern.exec(text)?.index ?? -1;
}

function afterLoneEnd(text: string): string {
  let from = 0;
  for (const end of text.matchAll(LONE_END)) from = end.index + end[0].length;
  return text.slice(from);
}
