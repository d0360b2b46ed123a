/** Translates references in foreign notations in a text into our notation. */

import { printReference } from "../json/path.ts";
import { type Located, locateRoot, type Names } from "../reference/locate-root.ts";
import type { TextReference } from "../reference/read-reference.ts";
import { scanText } from "../reference/scan-text.ts";
import { type Judgement, judgeNotation } from "./judge-notation.ts";
import type { LiteralTexts } from "./literal-texts.ts";
import { type Inner, readInner } from "./read-inner.ts";
import { type Candidate, candidatesAt, hasNoSigns } from "./scan-notations.ts";
import type { NamePlace, NameReading, StepNames } from "./step-names.ts";

/** Context for translating a text of a plan. */
export interface Translating {
  readonly names: Names;
  readonly stepNames: StepNames;
  readonly literals: LiteralTexts;
  readonly place: NamePlace;
  /** True when the step comes before this one, or is an explicit dependency. */
  readonly isEarlier: (id: string) => boolean;
  readonly hasHabit: boolean;
}

/** A notice about a text. `unknown`: our own brackets around an unknown name. */
export interface Notice {
  readonly type: "translated" | Exclude<Judgement, "reference" | "text"> | "unknown";
  readonly text: string;
  /** The possible meanings of the text in our notation. */
  readonly readings: readonly string[];
  /** The text is from an object, which cannot be escaped. */
  readonly isObject?: boolean;
}

/** A text with its references in our notation. */
export interface TranslatedText {
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
    const found = translateAt(text, isEscaped ? at + 1 : at, { ...translating, hasMoney });
    if (!found) {
      at++;
      continue;
    }
    translated += text.slice(from, at) + replacementOf(found, isEscaped, translating.literals);
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
export function wholeReference(text: string, translating: Translating): Notice | undefined {
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
export function stepNamedIn(text: string, translating: Translating): Notice | undefined {
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

/** The notation at a position, if there is one. */
function translateAt(
  text: string,
  start: number,
  translating: Translating & { hasMoney: () => boolean },
): Found | undefined {
  for (const candidate of candidatesAt(text, start)) {
    const source = text.slice(start, candidate.end);
    const inner = readInner(candidate.inner, (name) => nameOf(name, translating) !== undefined);
    const reading = inner && readingOf(candidate, inner, translating);
    if (!inner || !reading) {
      const unknown = unknownOf(candidate, source, translating);
      if (unknown) return unknown;
      continue;
    }
    const judgement = judgeNotation(candidate, inner, reading, {
      text,
      isWhole: start === 0 && candidate.end === text.length,
      isOwn: reading.ids.every((id) => id === translating.place.step?.id),
      isEarlier: reading.ids.every(translating.isEarlier),
      hasHabit: translating.hasHabit,
      hasMoney: translating.hasMoney,
    });
    if (judgement === "text" || isLeftToOurs(candidate, judgement, text, translating)) continue;
    const readings = reading.ids.map((id) => printReference(id, inner.path));
    if (translating.literals.has(source)) return { candidate, source, judgement: "literal", readings };
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
  judgement: Judgement,
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
function unknownOf(candidate: Candidate, source: string, { literals }: Translating): Found | undefined {
  const { signs, inner } = candidate;
  const isSpaced = /^\s/.test(inner) && /\s$/.test(inner);
  const isReadByOurs = (scanText(source)?.parts ?? []).some(({ type }) => type === "reference");
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
  isEscaped: boolean,
  literals: LiteralTexts,
): string {
  if (!isEscaped && judgement !== "literal")
    return judgement === "reference" ? (readings[0] ?? source) : source;
  const escaped = escapeOurs(candidate, source);
  if (escaped === source) literals.add(source);
  return escaped;
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
