/** Translates references in foreign notations in a text into our notation. */
import { printReference } from "../json/json.ts";
import {
  type Located,
  locateRoot,
  type Names,
  scanText,
  type TextReference,
} from "../reference/read-reference.ts";
import {
  type Candidate,
  candidatesAt,
  hasNoSigns,
  type Inner,
  type ReferenceObject,
  readInner,
  WORD_BEFORE,
} from "./scan-notations.ts";
import {
  createLiteralTexts,
  isPreviousName,
  type LiteralTexts,
  type NamePlace,
  type NameReading,
  type StepNames,
} from "./step-names.ts";

/** Context for translating a text of a plan. */
export interface Translating {
  readonly names: Names;
  readonly stepNames: StepNames;
  readonly literals: LiteralTexts;
  readonly place: NamePlace;
  /** True when the step comes before this one, or is an explicit dependency. */
  readonly isEarlier: (id: string) => boolean;
  readonly hasHabit: boolean;
  /** The text stands under a key with a dollar sign, such as `$match`. */
  readonly isBelowOperator?: boolean | undefined;
  /** True for a name that may be the misspelt name of a step. */
  readonly isNear: (name: string) => boolean;
}

/**
 * A notice about a text. `unknown`: our own brackets around an unknown name; `kept`: the name of a step in
 * another language, which stays text.
 */
export interface Notice {
  readonly type: "translated" | Exclude<Judgement, "reference" | "text"> | "unknown" | "kept";
  readonly text: string;
  /** The possible meanings of the text in our notation. */
  readonly readings: readonly string[];
  /** The text is from an object, which cannot be escaped. */
  readonly isObject?: boolean;
}

/** A text with its references in our notation. */
interface TranslatedText {
  readonly text: string;
  readonly notices: readonly Notice[];
}

const MAX_NOTICES = 20;

/** Takes linear time, because the look-ahead is bounded. Undefined when nothing was found. */
export function translateText(text: string, translating: Translating): TranslatedText | undefined {
  if (hasNoSigns(text)) return undefined;
  const own = ownReferences(text);
  const notices: Notice[] = [];
  let money: boolean | undefined;
  const hasMoney = () => (money ??= holdsMoney(text, translating));
  // Made once, because it is read at every character.
  const inText = { ...translating, hasMoney, language: createLanguageOf(text, translating) };
  let translated = "";
  let from = 0;
  let at = 0;
  while (at < text.length) {
    const reference = own.get(at);
    if (
      reference &&
      !continuesForeign(reference, text) &&
      locateOwn(reference, translating).type !== "unknown"
    ) {
      at = reference.end;
      continue;
    }
    const escape = escapeEnd(text, at);
    if (escape !== undefined) {
      at = escape;
      continue;
    }
    const isEscaped = text.charAt(at) === "\\";
    const found = translateAt(text, isEscaped ? at + 1 : at, inText);
    if (!found) {
      at++;
      continue;
    }
    const isInWord = isEscaped && WORD_BEFORE.test(text.slice(Math.max(0, at - 2), at));
    translated += text.slice(from, at) + replacementOf(found, { isEscaped, isInWord }, translating.literals);
    if (!isEscaped && found.notice && notices.length < MAX_NOTICES) notices.push(found.notice);
    at = found.candidate.end;
    from = at;
  }
  return from === 0 ? undefined : { text: translated + text.slice(from), notices };
}

function ownReferences(text: string): ReadonlyMap<number, TextReference> {
  const parts = scanText(text)?.parts ?? [];
  return new Map(parts.flatMap((part) => (part.type === "reference" ? [[part.start, part]] : [])));
}

/** The notice for a text that is exactly one reference to a step in our notation. */
function wholeReference(text: string, translating: Translating): Notice | undefined {
  const [only, ...others] = scanText(text)?.parts ?? [];
  if (only?.type !== "reference" || others.length > 0) return undefined;
  const located = locateOwn(only, translating);
  return located.type === "step" || located.type === "scope"
    ? { type: "translated", text, readings: [printReference(located.name, located.path)] }
    : undefined;
}

/**
 * The notice for a text that begins with the name of a step and continues with something that is not a path.
 */
function stepNamedIn(text: string, translating: Translating): Notice | undefined {
  const inner = readInner(text, (name) => nameOf(name, translating) !== undefined);
  const reading = typeof inner?.name === "string" ? nameOf(inner.name, translating) : undefined;
  if (!inner || !reading) return undefined;
  return { type: "malformed", text, readings: reading.ids.map((id) => printReference(id, inner.path)) };
}

function locateOwn({ root, path }: TextReference, { names, place }: Translating): Located {
  return locateRoot(root, path, { ...names, hasScope: place.hasScope });
}

/**
 * True when the path continues in the spelling of another language, such as `$ref:s1.list[].id`: without a
 * closing sign our own path would end too early.
 */
function continuesForeign({ spelling, end }: TextReference, text: string): boolean {
  return spelling === "$ref:" && /^(?:\[|\.\*|\?[.[])/.test(text.slice(end, end + 2));
}

/** The end of an escape of our notation, including the escaped text. */
function escapeEnd(text: string, at: number): number | undefined {
  if (text.charAt(at) !== "\\") return undefined;
  for (const [open, close] of [
    ["<<", ">>"],
    ["{{", "}}"],
    ["$ref:", ""],
  ] as const) {
    if (!text.startsWith(open, at + 1)) continue;
    const [first] = candidatesAt(text, at + 1);
    return first && close !== "" ? first.end : at + 1 + open.length;
  }
  return undefined;
}

interface Found {
  readonly candidate: Candidate;
  readonly source: string;
  readonly judgement: Judgement | "literal" | "unknown";
  readonly readings: readonly string[];
  readonly notice?: Notice;
}

type TextTranslating = Translating & { readonly hasMoney: () => boolean; readonly language: LanguageOf };

/** The notation at a position, if there is one. */
function translateAt(text: string, start: number, translating: TextTranslating): Found | undefined {
  for (const candidate of candidatesAt(text, start)) {
    const source = text.slice(start, candidate.end);
    const inner = readInner(candidate.inner, (name) => nameOf(name, translating) !== undefined);
    const reading = inner && readingOf(candidate, inner, translating);
    if (!inner || !reading) {
      const unknown = unknownOf(candidate, source, text, translating);
      if (unknown) return unknown;
      continue;
    }
    const isWhole = start === 0 && candidate.end === text.length;
    const judged = judgeNotation(candidate, inner, reading, {
      text,
      isWhole,
      isOwn: reading.ids.every((id) => id === translating.place.step?.id),
      isEarlier: reading.ids.every(translating.isEarlier),
      hasHabit: translating.hasHabit && !translating.language.isSql(),
      hasMoney: translating.hasMoney,
    });
    const judgement = judgeLanguage(judged, candidate, { inner, reading, isWhole, translating });
    if (judgement === "text" || isLeftToOurs(candidate, judgement, text, translating)) continue;
    const readings = reading.ids.map((id) => printReference(id, inner.path));
    if (translating.literals.has(source)) return { candidate, source, judgement: "literal", readings };
    if (judgement === "kept") {
      const isPrevious = candidate.signs === "{{";
      const notice: Notice = { type: "kept", text: source, readings };
      return { candidate, source, judgement: "text", readings, ...(isPrevious ? {} : { notice }) };
    }
    const type = judgement === "reference" ? "translated" : judgement;
    return { candidate, source, judgement, readings, notice: { type, text: source, readings } };
  }
  return undefined;
}

function nameOf(name: string, { stepNames, place }: Translating): NameReading | undefined {
  return stepNames.read(name, place);
}

function readingOf({ signs }: Candidate, { name }: Inner, translating: Translating): NameReading | undefined {
  if (typeof name !== "string") return translating.stepNames.at(name.position);
  const reading = nameOf(name, translating);
  // `$E5` and `=E5` are cells of a sheet; `#E5` is evidence of a plan.
  if (/^E[0-9]+$/.test(name) && /^(?:[$=%@]|\{|\[\[)$/.test(signs) && !translating.names.hasStep(name))
    return undefined;
  if (signs !== "<>-" || !reading || translating.names.renamed?.has(name)) return reading;
  // HuggingGPT numbers its tasks from 0; without numbered ids only the first one is unambiguous.
  return { ...reading, isDoubtful: name !== "0" || reading.ids.length > 1 };
}

/** True for text that opens like our own reference: the reader of our notation reports its errors. */
function isLeftToOurs(
  { signs, start }: Candidate,
  judgement: Judgement | "kept",
  text: string,
  { names, place }: Translating,
): boolean {
  if (judgement !== "malformed" || (signs !== "<<" && signs !== "{{")) return false;
  const known = { ...names, hasScope: place.hasScope };
  const [malformed] = scanText(text.slice(start, start + 300))?.malformed ?? [];
  return malformed?.start === 0 && locateRoot(malformed.root, [], known).type !== "unknown";
}

/**
 * A notice for our own brackets around an unknown name: an error, except for text that looks like an
 * operator.
 */
function unknownOf(
  candidate: Candidate,
  source: string,
  text: string,
  { literals, isNear, language }: TextTranslating,
): Found | undefined {
  const { signs, inner, start } = candidate;
  const isSpaced = /^\s/.test(inner) && /\s$/.test(inner);
  const ours = (scanText(source)?.parts ?? []).find((part) => part.type === "reference");
  const isReadByOurs = ours !== undefined;
  // `v${{ github.ref }}`: a dollar sign inside a word opens nothing of its own.
  const begin = signs === "{{" && text.charAt(start - 1) === "$" ? start - 1 : start;
  const isOfFiles = signs === "${{" || begin < start;
  const isWhole = begin === 0 && candidate.end === text.length;
  const isOther = isOfFiles
    ? !isWhole || FILE_CONTEXT.test(text.slice(begin, candidate.end))
    : signs === "{{" && language.isTemplate();
  if (ours?.type === "reference" && isOther && (BLOCK_WORD.test(ours.root) || !isNear(ours.root)))
    return { candidate, source, judgement: "literal", readings: [] };
  if (signs === "{{" || signs === "$ref:") {
    return isReadByOurs && literals.has(source)
      ? { candidate, source, judgement: "literal", readings: [] }
      : undefined;
  }
  if (signs !== "<<" || inner.includes("<<") || (isSpaced && !isReadByOurs)) return undefined;
  if (literals.has(source)) return { candidate, source, judgement: "literal", readings: [] };
  if (isReadByOurs) return undefined;
  return {
    candidate,
    source,
    judgement: "unknown",
    readings: [],
    notice: { type: "unknown", text: source, readings: [] },
  };
}

function replacementOf(
  { candidate, source, judgement, readings }: Found,
  { isEscaped, isInWord }: { isEscaped: boolean; isInWord: boolean },
  literals: LiteralTexts,
): string {
  if (!isEscaped && judgement !== "literal")
    return judgement === "reference" ? (readings[0] ?? source) : source;
  const escaped = escapeOurs(candidate, source);
  // Inside a word a sign opens nothing: the next reader sees only the braces.
  if (escaped === source) literals.add(isInWord && /^[$@]\{/.test(source) ? source.slice(1) : source);
  return escaped;
}

/** What a text says about the language that it is written in; each answer is computed once. */
interface LanguageOf {
  /** An expression of a workflow: `={{ $json.email }}`. */
  isExpression: (start: number) => boolean;
  /** A template with blocks, in which `{{name}}` is a variable of the template. */
  isTemplate: () => boolean;
  /** A query of a document database: `{"$unwind": "$customers"}`. */
  hasOperators: () => boolean;
  /** A database statement, in which `$1` is a parameter. */
  isSql: () => boolean;
  /** Variables after a dollar sign that name no step. */
  hasVariables: () => boolean;
  /** Expressions of files for continuous integration: `${{ secrets.TOKEN }}`. */
  isFile: () => boolean;
}

/** Contexts of expressions in files for continuous integration. */
const FILE_CONTEXT =
  /\$\{\{\s*(?:secrets|github|gitea|env|vars|variables|parameters|matrix|inputs|needs|strategy|runner|jobs?)\b/;
const TEMPLATE_BLOCK =
  /\{%|<%|\{\{[-~]?\s*(?:[#/>!^&.]|(?:if|else|end|range|with|define|template|include|block|each|unless|for|endfor|endif)\b)|\{\{[^{}\n]{1,200}\|/;
const BLOCK_WORD = /^(?:end|else|endif|endfor)$/;
const OPERATOR_KEY = /[{,]\s*["']?\$[a-z][A-Za-z]*["']?\s*:/;
const VARIABLE = /\$\{?([A-Za-z_]\w{0,60})/g;
const MAX_VARIABLES = 100;

function createLanguageOf(text: string, translating: Translating): LanguageOf {
  const once = (test: () => boolean) => {
    let known: boolean | undefined;
    return () => (known ??= test());
  };
  const isFormula = once(() => text.startsWith("="));
  return {
    isExpression: (start) => isFormula() || /(?:^|["'`])=$/.test(text.slice(Math.max(0, start - 2), start)),
    isTemplate: once(() => TEMPLATE_BLOCK.test(text)),
    hasOperators: once(() => translating.isBelowOperator === true || OPERATOR_KEY.test(text)),
    isSql: once(
      () => /\b(?:select|insert|update|delete)\b/i.test(text) && /\b(?:from|into|set|where)\b/i.test(text),
    ),
    hasVariables: once(() => {
      for (const [count, [, name = ""]] of [...text.slice(0, 20_000).matchAll(VARIABLE)].entries()) {
        if (count >= MAX_VARIABLES) return false;
        if (name !== "ref" && nameOf(name, translating) === undefined) return true;
      }
      return false;
    }),
    isFile: once(() => FILE_CONTEXT.test(text)),
  };
}

/** A judgement that also considers the language of the text. */
function judgeLanguage(
  judgement: Judgement,
  { signs, start }: Candidate,
  about: { inner: Inner; reading: NameReading; isWhole: boolean; translating: TextTranslating },
): Judgement | "kept" {
  if (judgement !== "reference" && judgement !== "doubt") return judgement;
  const { inner, reading, isWhole, translating } = about;
  const { language } = translating;
  const isWord = reading.kind === "word" || reading.kind === "tool";
  switch (signs) {
    case "{{":
      if (!language.isExpression(start)) return judgement;
      return isPreviousName(inner.name) ? "kept" : "doubt";
    case "$":
    case "$$":
      if (language.hasOperators()) return isWord ? "kept" : "doubt";
      return isWord && !isWhole && language.hasVariables() ? "doubt" : judgement;
    case "${":
    case "$(":
      return isWord && !isWhole && language.hasVariables() ? "doubt" : judgement;
    case "${{":
      return language.isFile() ? "doubt" : judgement;
    default:
      return judgement;
  }
}

/** Escapes literal texts in our own signs, so that they stay literal when the plan runs. */
function escapeOurs({ signs }: Candidate, source: string): string {
  if (signs === "${{") return `$\\${source.slice(1)}`;
  return signs === "<<" || signs === "{{" || signs === "$ref:" ? `\\${source}` : source;
}

/**
 * True for a text with amounts that cannot be step numbers: with cents, with thousands, or larger than the
 * number of steps.
 */
function holdsMoney(text: string, translating: Translating): boolean {
  const amounts = text.match(/\$[0-9]+(?:[.,][0-9]+)?/g) ?? [];
  return amounts.some((amount) => {
    const digits = amount.slice(1);
    return /[.,]/.test(digits) || (nameOf(digits, translating)?.isDoubtful ?? true);
  });
}

/*
 * Decides whether a text in a foreign notation is a reference to a step. The same signs occur in prices,
 * shell, templates, addresses and hashtags: a plain word between them is a reference only when nothing else
 * is likely, and a doubtful case is reported, not decided.
 */

type Judgement = "reference" | "doubt" | "malformed" | "text";

/** The context of a candidate. */
interface Surroundings {
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
function judgeNotation(
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

/** The meaning of a reference object; undefined when it does not name a step, so that it is data. */
export function readObject(
  { source, inners, written, isMore }: ReferenceObject,
  translating: Translating,
): Notice | undefined {
  const found =
    wholeReference(written, translating) ??
    firstOf(inners, (inner) => noticeOf(`\${${inner}}`, translating)) ??
    noticeOf(written, translating) ??
    firstOf(inners, (inner) => stepNamedIn(inner, translating));
  if (!found) return undefined;
  const type = isMore && found.type === "translated" ? "malformed" : found.type;
  return { ...found, type, text: source, isObject: true };
}

function firstOf(inners: readonly string[], read: (inner: string) => Notice | undefined): Notice | undefined {
  for (const inner of inners) {
    const found = read(inner);
    if (found) return found;
  }
  return undefined;
}

/** The meaning of a text that is only a reference. */
function noticeOf(text: string, translating: Translating): Notice | undefined {
  const literals = createLiteralTexts([], undefined);
  const [notice, ...others] = translateText(text, { ...translating, literals })?.notices ?? [];
  return notice && others.length === 0 && notice.text === text && notice.type !== "unknown"
    ? notice
    : undefined;
}
