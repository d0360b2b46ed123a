/**
 * Decides whether a text in a foreign notation is a reference to a step. The same signs occur in prices,
 * shell, templates, addresses and hashtags: a plain word between them is a reference only when nothing else
 * is likely, and a doubtful case is reported, not decided.
 */
import type { Inner } from "./read-inner.ts";
import type { Candidate } from "./scan-notations.ts";
import type { NameReading } from "./step-names.ts";

export type Judgement = "reference" | "doubt" | "malformed" | "text";

/** The context of a candidate. */
export interface Surroundings {
  readonly text: string;
  /** The candidate is the complete text. */
  readonly isWhole: boolean;
  /** The name means the step itself. */
  readonly isOwn: boolean;
  /** The named step comes before, or is an explicit dependency. */
  readonly isEarlier: boolean;
  /**
   * Numbers after a dollar sign are references elsewhere in this plan, or the request is known and does not
   * contain such a number.
   */
  readonly hasHabit: boolean;
  /** The text contains other amounts that cannot be step numbers. */
  readonly hasMoney: () => boolean;
}

/** @param reading - the meaning of the name */
export function judgeNotation(
  candidate: Candidate,
  inner: Inner,
  reading: NameReading,
  around: Surroundings,
): Judgement {
  if (inner.rest !== "") return judgeRest(candidate, inner, reading);
  const form = formOf(candidate, inner, reading);
  const judgement =
    candidate.signs === "$" && form.isNumber && !form.hasPath
      ? judgeAmount(candidate, reading, around)
      : around.isWhole
        ? judgeWhole(candidate, form)
        : isShift(candidate, form)
          ? "doubt"
          : judgeInside(candidate, form);
  const isOpen = reading.isDoubtful || reading.ids.length > 1;
  return judgement === "reference" && isOpen ? "doubt" : judgement;
}

/** `1 << 2 >> 3` is arithmetic. */
function isShift({ signs, inner }: Candidate, { isNumber, hasPath }: Form): boolean {
  return signs === "<<" && isNumber && !hasPath && /^\s/.test(inner);
}

interface Form {
  readonly hasPath: boolean;
  readonly isNumber: boolean;
  readonly isMarked: boolean;
}

/** Names inside a forEach are words (`item`), which also occur in tags and hashtags. */
function formOf({ signs }: Candidate, { name, path }: Inner, { kind }: NameReading): Form {
  const isScope = kind === "scope" && !"<#@=".includes(signs);
  return {
    hasPath: path.length > 0,
    isNumber: typeof name === "string" && /^[0-9]+$/.test(name),
    isMarked: kind === "marked" || isScope,
  };
}

/**
 * Judges text after a name and path: an expression of another language about a step is malformed; anything
 * else is text.
 */
function judgeRest({ signs }: Candidate, { rest }: Inner, { kind }: NameReading): Judgement {
  if (signs === "<<" || (signs === "$ref:" && /^\[.*\]/.test(rest))) return "malformed";
  const isExpression = signs === "{{" || signs === "${{" || signs === "${";
  return isExpression && kind !== "tool" && /^[|.[+?(:]/.test(rest) ? "malformed" : "text";
}

function judgeWhole({ signs }: Candidate, { hasPath, isNumber, isMarked }: Form): Judgement {
  const isClear = hasPath || (isMarked && !isNumber);
  switch (signs) {
    case "<":
    case "#":
    case "@":
      return isClear ? "reference" : "doubt";
    case "=":
      return hasPath || isMarked ? "reference" : "doubt";
    case "%":
      return isClear ? "reference" : "doubt";
    case "[[":
      return isNumber && !hasPath ? "doubt" : "reference";
    case "<<":
    case "{{":
    case "$ref:":
    case "${{":
    case "${":
    case "$(":
    case "{":
    case "$$":
    case "<>-":
    case "$":
      return "reference";
  }
}

function judgeInside({ signs }: Candidate, { hasPath, isNumber, isMarked }: Form): Judgement {
  const isClear = hasPath || (isMarked && !isNumber);
  switch (signs) {
    case "<<":
    case "{{":
    case "$ref:":
    case "${{":
    case "<>-":
      return "reference";
    case "${":
    case "$(":
    case "$":
      return hasPath || isMarked ? "reference" : "doubt";
    case "{":
    case "[[":
    case "%":
    case "$$":
      return isClear ? "reference" : isNumber ? "text" : "doubt";
    case "<":
      return hasPath ? "reference" : isClear ? "doubt" : "text";
    case "#":
    case "@":
      return isMarked && isClear ? "reference" : hasPath ? "doubt" : "text";
    case "=":
      return hasPath ? (isMarked ? "reference" : "doubt") : "text";
  }
}

/** `$1`: a step number, or money. */
function judgeAmount(
  { start, end, inner }: Candidate,
  { isDoubtful }: NameReading,
  around: Surroundings,
): Judgement {
  const { text, isWhole, isOwn, isEarlier, hasHabit, hasMoney } = around;
  if (isOwn || (inner === "0" && isDoubtful)) return "text";
  if (!isEarlier) return "doubt";
  if (isWhole) return "reference";
  const isWord = /^[\s("']?$/.test(text.charAt(start - 1)) && /^[\s.,;:!?)"']?$/.test(text.charAt(end));
  return hasHabit && isWord && !hasMoney() ? "reference" : "doubt";
}
