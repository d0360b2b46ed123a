import { isDated, isNumeric, linkedNoun, PREPOSITIONS, participleRoot, stem } from "@planwright/models/words";
import { antecedentAt } from "../links/antecedents.ts";
import { linkTo, stepsNamed } from "../links/links.ts";
import { BOUNDS, CONNECTORS, NAME_ENDS, PRONOUNS } from "../text/lexicon.ts";
import { momentAt } from "../text/moments.ts";
import { isSeparator, skipDeterminers } from "../text/separators.ts";
import { isIdentifier, isPath, isTyped, measureAt, PATH_NAMES, valueFor } from "../text/value-for.ts";
import { choiceAt } from "./choices.ts";
import { keywordAt } from "./keywords.ts";
import { beginsPhrase, phraseAt } from "./phrases.ts";
import { isOwnPlace } from "./places.ts";
import { type Mode, openParameters, type Reading } from "./reading.ts";
import { isSuffixed } from "./suffix.ts";

/** The limit when words such as "under" come before a number at a position; else null. */
export const boundAt = (reading: Reading, at: number) =>
  BOUNDS.find(
    ({ words }) =>
      words.every((word, index) => reading.tokens[at + index]?.lower === word) &&
      reading.tokens[at + words.length]?.kind === "number",
  ) ?? null;

/** True when another argument begins at a position, according to the mode of the value before it. */
export function beginsArgument(reading: Reading, at: number, mode: Mode, isSeparated: boolean): boolean {
  const token = reading.tokens[at];
  if (!token || token.kind === "quoted") return false;
  if (beginsMeasure(reading, at, mode, isSeparated) || beginsMoment(reading, at, mode)) return true;
  const isLong = mode === "text" || mode === "title";
  if (token.kind !== "word") return !isLong && fillsShape(reading, at);
  if (phraseAt(reading, at)) return true;
  if (mode === "name" && (beginsPhrase(reading.tokens, at) || NAME_ENDS.has(token.lower))) return true;
  const connects = CONNECTORS.has(token.lower);
  if (beginsKeyword(reading, connects ? at + 1 : at, mode, connects || isSeparated)) return true;
  if (boundAt(reading, at) && openParameters(reading).some(isNumeric)) return true;
  if (!isLong && (isSeparated || mode === "name") && choiceAt(reading, at)?.isNamed === true) return true;
  if (mode === "name" && endsInChoice(reading, at)) return true;
  if (connects && (mode === "name" || bringsArgument(reading, at + 1))) return true;
  if (!PREPOSITIONS.has(token.lower)) return false;
  if (mode === "name") return token.lower !== "of";
  return isPlainLink(reading, at) || (mode === "title" && bringsNamed(reading, at + 1));
}

/** After "with": "high priority", "30 guests". */
const bringsArgument = (reading: Reading, at: number) =>
  choiceAt(reading, at)?.isNamed === true || measureAt(openParameters(reading), reading.tokens, at) !== null;

/** After a preposition: "project WEB", "the web repo", "4 guests". */
function bringsNamed(reading: Reading, at: number): boolean {
  const start = skipDeterminers(reading.tokens, at);
  const keyword = keywordAt(reading, start);
  if (keyword && !reading.isSet(keyword.parameter)) return true;
  if (isOwnPlace(reading, start)) return true;
  return measureAt(openParameters(reading), reading.tokens, start) !== null || isSuffixed(reading, at);
}

/** "25 minutes": ends a text only after a separator. */
function beginsMeasure(reading: Reading, at: number, mode: Mode, isSeparated: boolean): boolean {
  const measure = measureAt(openParameters(reading), reading.tokens, at);
  return measure !== null && (isSeparated || mode === "name");
}

/** A day or a time, when a parameter for one is open. */
function beginsMoment(reading: Reading, at: number, mode: Mode): boolean {
  const isLong = mode === "text" || mode === "title";
  if (isLong && !openParameters(reading).some((each) => isDated(each) && each.required)) return false;
  const moment = momentAt(reading, at);
  if (!moment) return false;
  return openParameters(reading).some(isDated) || (mode === "name" && moment.isRelative);
}

/** An e-mail address or a link, for the parameter that takes one. */
const fillsShape = (reading: Reading, at: number) =>
  openParameters(reading).some((each) => (each.shape ?? each.item?.shape) === reading.tokens[at]?.kind);

function beginsKeyword(reading: Reading, at: number, mode: Mode, isLoud: boolean): boolean {
  const keyword = keywordAt(reading, skipDeterminers(reading.tokens, at));
  if (!keyword || reading.isSet(keyword.parameter)) return false;
  if (mode === "name" || mode === "key" || isLoud || keyword.isMarked) return true;
  if (
    participleRoot(reading.tokens[at]?.lower ?? "") !== null &&
    PREPOSITIONS.has(reading.tokens[at + 1]?.lower ?? "")
  )
    return mode === "title";
  const { parameter } = keyword;
  const value = reading.tokens[keyword.next];
  const isShaped = parameter.type !== "string" || parameter.shape !== null || parameter.choices !== null;
  return isShaped && value !== undefined && valueFor(parameter, value.text, value.kind) !== undefined;
}

/** "alpha monthly": a word from only one list of choices ends a name, when it is the end of the argument. */
function endsInChoice(reading: Reading, at: number): boolean {
  const choice = choiceAt(reading, at);
  if (choice === null || !choice.parameter.required) return false;
  const behind = reading.tokens[choice.next];
  return behind === undefined || isSeparator(behind) || PREPOSITIONS.has(behind.lower);
}

/**
 * True when a preposition inside a text clearly begins a link or a typed value, and does not belong to the
 * text.
 */
export function isPlainLink(reading: Reading, at: number): boolean {
  const word = reading.tokens[at]?.lower ?? "";
  if (!PREPOSITIONS.has(word)) return false;
  const open = openParameters(reading);
  const links = open.filter((each) => each.link !== null);
  if (word === "by" && links.some((each) => each.required)) return true;
  const start = skipDeterminers(reading.tokens, at + 1);
  const [token, behind] = [reading.tokens[start], reading.tokens[start + 1]];
  const noun = stem(token?.lower ?? "");
  if (token?.kind === "word" && links.some((each) => linkedNoun(each) === noun)) return true;
  const keyword = keywordAt(reading, start);
  if (
    keyword &&
    !reading.isSet(keyword.parameter) &&
    (keyword.isMarked || isTyped(reading.tokens[keyword.next]))
  )
    return true;
  if (beginsMoment(reading, at + 1, "text")) return true;
  if (PRONOUNS.has(token?.lower ?? "")) return false;
  if (antecedentAt(reading, at + 1) && links.length > 0) return true;
  const isEnd = behind === undefined || isSeparator(behind) || PREPOSITIONS.has(behind.lower);
  if (isEnd && choiceAt(reading, start) !== null) return true;
  return isKnownName(reading, start) || fillsOpen(reading, start);
}

/** True for the name of an earlier step that an open parameter can refer to. */
function isKnownName(reading: Reading, at: number): boolean {
  const token = reading.tokens[at];
  if (!token) return false;
  const named = stepsNamed(reading.steps, token.text);
  return openParameters(reading).some((each) => named.some((step) => linkTo(each, step) !== null));
}

/** True for a value whose form shows that it is for an open parameter. */
function fillsOpen(reading: Reading, at: number): boolean {
  const token = reading.tokens[at];
  if (!token || token.kind === "quoted" || !isTyped(token)) return false;
  return openParameters(reading).some((each) => {
    const shape = each.shape ?? each.item?.shape ?? null;
    if (shape !== null) return valueFor(each, token.text, token.kind) !== undefined;
    const isPlace = isPath(token.text) && PATH_NAMES.has(stem(each.words.at(-1) ?? ""));
    if (isPlace || !each.required) return isPlace;
    if (each.link) return isIdentifier(token.text) && valueFor(each, token.text, token.kind) !== undefined;
    return false;
  });
}
