import { isExactNumber, type JsonValue, type OpenQuestion, stringifyExactJson } from "@planwright/plan";
import { labelIn, labelsOf } from "./answer-label.ts";
import { type AnswerContext, checkAnswer, readAnswer } from "./read-answer.ts";

/** An answer with the question that it belongs to. */
export interface BoundAnswer {
  readonly question: OpenQuestion;
  /** The given text, or the JSON text of a value. */
  readonly text: string;
  /** The value; undefined for an answer that only the model can read. */
  readonly value: JsonValue | undefined;
}

/** A refused answer; its question stays open. */
export interface UnfitAnswer {
  readonly question: OpenQuestion;
  readonly text: string;
  /** Why, and what would be accepted. */
  readonly message: string;
}

/** Answers, bound to their questions or refused. */
export interface BoundAnswers {
  readonly bound: readonly BoundAnswer[];
  readonly unfit: readonly UnfitAnswer[];
}

/**
 * Binds answers in words to the open questions, one for each, in their order. When all answers begin with
 * labels, the labels decide instead of the order. Pure.
 * @param texts - one for each question
 */
export function bindTexts(
  questions: readonly OpenQuestion[],
  texts: readonly string[],
  context: AnswerContext = {},
): BoundAnswers {
  const ordered = byLabel(questions, texts) ?? texts;
  return gather(
    questions.map((question, index) => {
      const text = ordered[index] ?? "";
      const read = question.about ? readAnswer(question.about, text, context) : readWords(text);
      return { question, text, read };
    }),
  );
}

/**
 * Binds values to the questions that they name. A text for a question without an argument is an answer in
 * words. Pure.
 */
export function bindValues(given: readonly { question: OpenQuestion; value: JsonValue }[]): BoundAnswers {
  return gather(
    given.map(({ question, value }) => {
      const text = typeof value === "string" && !isExactNumber(value) ? value : stringifyExactJson(value);
      const read = question.about ? checkAnswer(question.about, value) : readWords(text);
      return { question, text, read };
    }),
  );
}

interface Read {
  readonly question: OpenQuestion;
  readonly text: string;
  readonly read: { ok: true; value: JsonValue | undefined } | { ok: false; message: string };
}

function gather(all: readonly Read[]): BoundAnswers {
  return {
    bound: all.flatMap(({ question, text, read }) =>
      read.ok ? [{ question, text, value: read.value }] : [],
    ),
    unfit: all.flatMap(({ question, text, read }) =>
      read.ok ? [] : [{ question, text, message: read.message }],
    ),
  };
}

function readWords(text: string): Read["read"] {
  return text.trim() === ""
    ? { ok: false, message: "an empty text is no answer" }
    : { ok: true, value: undefined };
}

/**
 * The texts in the order of the questions that their labels name; undefined when a label is missing or does
 * not name exactly one question.
 */
function byLabel(questions: readonly OpenQuestion[], texts: readonly string[]): string[] | undefined {
  const labels = questions.map(({ about }) => (about ? labelsOf(about.keys) : []));
  const ordered = questions.map(() => "");
  const taken = new Set<number>();
  for (const text of texts) {
    const label = labelIn(text.trim())?.label;
    const matching = labels.flatMap((names, index) =>
      label !== undefined && names.includes(label) ? [index] : [],
    );
    const [only, second] = matching;
    if (only === undefined || second !== undefined || taken.has(only)) return undefined;
    taken.add(only);
    ordered[only] = text;
  }
  return ordered;
}
