import {
  isContent,
  isFreeText,
  isLongText,
  type Parameter,
  PREPOSITIONS,
  stem,
} from "@planwright/models/words";
import { escapeText } from "@planwright/plan";
import { saysAt } from "../clauses/heads.ts";
import { antecedentAt } from "../links/antecedents.ts";
import { stepsNamed } from "../links/links.ts";
import { CONNECTORS, COURTESIES, DETERMINERS, ORDINALS } from "../text/lexicon.ts";
import { isSeparator } from "../text/separators.ts";
import type { Token } from "../text/tokens.ts";
import { measureAt, valueFor } from "../text/value-for.ts";
import type { Argument } from "../values/argument.ts";
import { keywordAt } from "../values/keywords.ts";
import { give } from "../values/link-values.ts";
import { phraseAt } from "../values/phrases.ts";
import { readValue } from "../values/read-value.ts";
import { openParameters, type Reading } from "../values/reading.ts";
import { readAs } from "./keyed.ts";
import { giveAll, startsValue } from "./lists.ts";

/** "in 30 minutes", "for the next 3 days", "two guests". */
export function measured(reading: Reading, at: number): Argument | null {
  const isBehind = PREPOSITIONS.has(reading.tokens[at]?.lower ?? "");
  let start = isBehind ? at + 1 : at;
  while (isBehind && ["the", "a", "next", "last", "past"].includes(reading.tokens[start]?.lower ?? ""))
    start += 1;
  const found = measureAt(openParameters(reading), reading.tokens, start);
  if (!found) return null;
  return {
    next: found.next,
    gives: [{ parameter: found.parameter, value: found.value }],
    isTyped: true,
  };
}

/** "titled Hello", "about code", "saying Well done", "because it is late". */
export function phrase(reading: Reading, at: number): Argument | null {
  const found = phraseAt(reading, at);
  if (!found) return null;
  const { parameter, kind, next } = found;
  const isNaming = kind === "name" || kind === "title";
  const value = isFreeText(parameter)
    ? readAs(reading, parameter, next, isNaming ? "title" : "text")
    : readAs(reading, parameter, next);
  if (!value) return null;
  const given = { ...give(reading, parameter, value), next: value.next };
  if (kind === "topic") return { ...given, topic: value.text };
  return isNaming ? { ...given, named: { parameter, text: value.text } } : given;
}

/**
 * "a task to call Bob": the words after "to" say what a thing is made for. They are its text or title, when
 * no parameter takes another value after "to".
 */
export function purpose(reading: Reading, at: number): Argument | null {
  const { words, tokens } = reading;
  if (at !== 0 || tokens[0]?.lower !== "to" || !words.isMaking || !isPlainWord(tokens[1])) return null;
  const names = PREPOSITIONS.get("to") ?? [];
  const isTaken = words.parameters.some(
    (each) => (each.link !== null && each.required) || each.words.some((word) => names.includes(word)),
  );
  if (isTaken || stepsNamed(reading.steps, tokens[1]?.text ?? "").length > 0) return null;
  const open = openParameters(reading).filter((each) => each.required && isLongText(each));
  const [only, second] = open;
  const value =
    only && second === undefined ? readAs(reading, only, 1, isContent(only) ? "text" : "title") : null;
  return only && value ? { ...give(reading, only, value), next: value.next } : null;
}

const isPlainWord = (token: Token | undefined) =>
  token?.kind === "word" && /^\p{Ll}+$/u.test(token.text) && !DETERMINERS.has(token.lower);

/**
 * "add a note to deal 5: call them back": the words after a colon are the only required text that has no
 * value yet.
 */
export function announced(reading: Reading, at: number): Argument | null {
  if (reading.tokens[at]?.kind !== "mark" || reading.tokens[at]?.text !== ":") return null;
  if (at === 0 || !startsValue(reading, at + 1)) return null;
  const [only, second] = openParameters(reading).filter((each) => each.required && isContent(each));
  const value = only && second === undefined ? readAs(reading, only, at + 1, "text") : null;
  return only && value ? { ...give(reading, only, value), next: value.next } : null;
}

/** "250 usd": the unit after a number, for the one parameter whose name means a unit. */
export function unit(reading: Reading, at: number): Argument | null {
  const [number, token] = [reading.tokens[at - 1], reading.tokens[at]];
  if (number?.kind !== "number" || token?.kind !== "word" || !startsValue(reading, at)) return null;
  const units = openParameters(reading).filter(
    (each) => isFreeText(each) && each.words.some((word) => UNIT_WORDS.has(stem(word))),
  );
  const required = units.filter((each) => each.required);
  const [only, second] = required.length > 0 ? required : units;
  if (!only) return null;
  if (second === undefined)
    return { next: at + 1, gives: [{ parameter: only, value: escapeText(token.text) }] };
  return { next: at + 1, pending: [{ text: token.text, kind: "word" }] };
}

const UNIT_WORDS = new Set(["unit", "currency", "measure"]);

/** Words that are no part of an argument: words of courtesy, and determiners before an argument. */
export function filler(reading: Reading, at: number): Argument | null {
  const token = reading.tokens[at];
  const next = reading.tokens[at + 1];
  if (token?.kind !== "word") return null;
  const courtesy = COURTESIES.find((words) => saysAt(reading.tokens, at, words));
  if (courtesy) return { next: at + courtesy.length };
  if (CONNECTORS.has(token.lower) && next && next.kind !== "word") return { next: at + 1 };
  const isDeterminer = DETERMINERS.has(token.lower) && !["all", "any"].includes(token.lower);
  const isPointing = antecedentAt(reading, at) !== null || ORDINALS.has(next?.lower ?? "");
  return isDeterminer && next && !isPointing ? { next: at + 1 } : null;
}

/** "..., both in department Ops": the words that follow are for all objects named so far. */
export function collective(reading: Reading, at: number, isSeparated: boolean): Argument | null {
  const [token, next] = [reading.tokens[at], reading.tokens[at + 1]];
  if (!isSeparated || !reading.isPlural || !["both", "all", "each"].includes(token?.lower ?? "")) return null;
  const isArgument = next?.kind === "word" && (PREPOSITIONS.has(next.lower) || CONNECTORS.has(next.lower));
  return isArgument || keywordAt(reading, at + 1) !== null ? { next: at + 1, isForAll: true } : null;
}

/** "dark-mode on": the value of a flag, when only one open parameter is a flag. */
export function flagged(reading: Reading, at: number): Argument | null {
  const token = reading.tokens[at];
  if (!token || token.kind === "quoted") return null;
  const behind = reading.tokens[at + 1];
  const isAlone = behind === undefined || isSeparator(behind) || PREPOSITIONS.has(behind.lower);
  const [only, second] = openParameters(reading).filter((each) => each.type === "boolean");
  const value = only && second === undefined && isAlone ? valueFor(only, token.text) : undefined;
  return only && value !== undefined ? { next: at + 1, gives: [{ parameter: only, value }] } : null;
}

/** An e-mail address, a link or a number is for the only parameter of its shape, if it is open. */
export function typed(reading: Reading, at: number): Argument | null {
  const token = reading.tokens[at];
  if (!token || token.kind === "word" || token.kind === "quoted" || token.kind === "mark") return null;
  const hasShape = (each: Parameter) =>
    token.kind === "number"
      ? (each.type === "number" || each.type === "integer") && each.link === null
      : (each.shape ?? each.item?.shape) === token.kind;
  const shaped = reading.words.parameters.filter(hasShape);
  const fits = shaped.length === 1 ? shaped : shaped.filter((each) => each.required);
  const [parameter, second] = fits;
  if (!parameter || second !== undefined || reading.isSet(parameter)) return null;
  const value = readValue(reading, at, "name");
  if (!value || valueFor(parameter, token.text, token.kind) === undefined) return null;
  const given = giveAll(reading, parameter, value);
  const isCount = ["of", "x"].includes(reading.tokens[given.next]?.lower ?? "");
  return { ...given, next: isCount ? given.next + 1 : given.next, isTyped: true };
}
