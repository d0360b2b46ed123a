import {
  CONTENT_NAMES,
  NAME_NAMES,
  type Parameter,
  QUERY_NAMES,
  REASON_NAMES,
  TITLE_NAMES,
} from "@planwright/models/words";
import { type PhraseKind, VALUE_PHRASES } from "../text/lexicon.ts";
import type { Token } from "../text/tokens.ts";
import type { Reading } from "./reading.ts";

/** A phrase such as "titled" or "about", with the parameter that it fills. */
export interface Phrase {
  parameter: Parameter;
  kind: PhraseKind;
  /** Where its value starts. */
  next: number;
}

/** The phrase at a position, with the parameter that it fills; null when no open parameter fits. */
export function phraseAt(reading: Reading, at: number): Phrase | null {
  const found = spokenAt(reading.tokens, at);
  if (!found) return null;
  const { kind } = found;
  const next = at + found.words.length;
  const parameter = phraseTarget(reading, kind, at);
  return parameter && reading.tokens[next] ? { parameter, kind, next } : null;
}

/** True when a phrase such as "titled" is at a position, even when no open parameter fits. */
export const beginsPhrase = (tokens: readonly Token[], at: number) => spokenAt(tokens, at) !== null;

const spokenAt = (tokens: readonly Token[], at: number) =>
  VALUE_PHRASES.find(({ words }) =>
    words.every((word, index) => {
      const token = tokens[at + index];
      return token?.kind === "word" && token.lower === word;
    }),
  ) ?? null;

function phraseTarget(reading: Reading, kind: PhraseKind, at: number): Parameter | null {
  const open = reading.words.parameters.filter(
    (parameter) => parameter.type === "string" && parameter.link === null && !reading.isSet(parameter),
  );
  const first = (names: readonly string[], isWanted: (parameter: Parameter) => boolean = () => true) =>
    names.flatMap((name) => open.filter((each) => each.words.at(-1) === name && isWanted(each)))[0] ?? null;
  const isRequired = (parameter: Parameter) => parameter.required;
  const byName = () => first(NAME_NAMES) ?? callingParameter(reading, open);
  switch (kind) {
    case "title":
      return first(TITLE_NAMES);
    case "name":
      return byName();
    case "content":
      return first(CONTENT_NAMES, isRequired) ?? first(CONTENT_NAMES);
    case "query":
      return first(QUERY_NAMES);
    case "reason":
      return first(REASON_NAMES);
    case "topic":
      return (
        (bringsContent(reading.tokens, at + 1) ? first(TITLE_NAMES) : null) ??
        first(CONTENT_NAMES, isRequired) ??
        first(["topic", "about", ...QUERY_NAMES]) ??
        first(CONTENT_NAMES) ??
        first(TITLE_NAMES)
      );
  }
}

/**
 * The parameter for the name of a thing when no parameter is clearly a name: `username`, or the parameter
 * that is named after the thing (`service`).
 */
export function callingParameter(reading: Reading, open: readonly Parameter[]): Parameter | null {
  const isText = (each: Parameter) => each.type === "string" && each.choices === null && each.shape === null;
  const compound = open.filter((each) => isText(each) && /.name$/.test(each.words.at(-1) ?? ""));
  if (compound.length === 1) return compound[0] ?? null;
  const { thing } = reading.words;
  const own = open.filter(
    (each) => isText(each) && (each.words.at(-1) === thing || each.link?.thing === thing),
  );
  return own.length === 1 ? (own[0] ?? null) : null;
}

/** "about X saying Y": the topic is then only the title. */
const bringsContent = (tokens: readonly Token[], from: number) =>
  tokens.some((_, at) => at >= from && spokenAt(tokens, at)?.kind === "content");
