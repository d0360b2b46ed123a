import {
  asksForMe,
  isKnownVerb,
  isReadingVerb,
  PREPOSITIONS,
  sharesRoot,
  stem,
  type ToolWords,
} from "@planwright/models/words";
import {
  COUNTS,
  DETERMINERS,
  OPENERS,
  ORDINALS,
  POINTERS,
  PRONOUNS,
  SEQUEL_OPENERS,
} from "../text/lexicon.ts";
import { isSeparator } from "../text/separators.ts";
import type { Token } from "../text/tokens.ts";
import { matchByVerb, matchTools, type ToolMatch } from "./match-tool.ts";

/** The beginning of a clause: its verb, and the position of the words after it. */
export interface Head {
  verb: string;
  next: number;
  matches: ToolMatch[];
  /** True when the words that follow are the text of the thing: "remind me to ...". */
  bringsText?: boolean;
}

/**
 * The beginning of a clause after words that change nothing ("please", "can you", "1."), and whether these
 * words put it after the previous clause.
 */
export function skipOpeners(tokens: readonly Token[], at: number): { next: number; isSequel: boolean } {
  let next = at;
  let isSequel = false;
  for (let length = openerLength(tokens, next); length > 0; length = openerLength(tokens, next)) {
    isSequel ||= SEQUEL_OPENERS.some((words) => words.length === length && saysAt(tokens, next, words));
    next += length;
  }
  return { next, isSequel };
}

function openerLength(tokens: readonly Token[], at: number): number {
  const token = tokens[at];
  if (!token || !tokens[at + 1]) return 0;
  if (token.kind === "mark" || ["-", "*", "•"].includes(token.text)) return 1;
  if (/^\d{1,2}$/.test(token.text) && [".", ")"].includes(tokens[at + 1]?.text ?? "")) return 1;
  const opener = [...SEQUEL_OPENERS, ...OPENERS].find((words) => saysAt(tokens, at, words));
  return opener && tokens[at + opener.length] ? opener.length : 0;
}

/** True when words are at a position, unquoted. */
export const saysAt = (tokens: readonly Token[], at: number, words: readonly string[]) =>
  words.every((word, index) => {
    const token = tokens[at + index];
    return token !== undefined && token.kind !== "quoted" && token.lower === word;
  });

/** The verb at a position, with the tools that fit it; null when no verb is there. */
export function headAt(tokens: readonly Token[], at: number, catalogue: readonly ToolWords[]): Head | null {
  const token = tokens[at];
  if (token?.kind !== "word") return null;
  const { verb, next } = verbAt(tokens, at, catalogue);
  const rest = tokens.slice(next);
  const matches = matchTools(catalogue, verb, rest);
  const isOwn = (word: string) => catalogue.some(({ verbs }) => verbs.includes(word));
  if (asksForMe(verb) && !["me", "us"].includes(rest[0]?.lower ?? "") && !isOwn(verb)) return null;
  const isVerb = isKnownVerb(verb) || isOwn(verb);
  if (isVerb && matches.length > 0) return { verb, next, matches };
  const isOwnVerb = catalogue.some(({ spoken }) => spoken[0] === token.lower);
  const isThing = catalogue.some((words) => words.thing === token.lower || words.objects.has(token.lower));
  const asNoun = isThing && !isOwnVerb ? nounAsVerb(tokens, at, catalogue) : null;
  if (asNoun) return asNoun;
  const made = isVerb ? null : madeBy(tokens, at, catalogue);
  if (made) return made;
  return isVerb ? { verb, next, matches: matchByVerb(catalogue, verb) } : null;
}

/** The verb with a particle that belongs to it: "roll back" where a tool is called `rollback`. */
function verbAt(tokens: readonly Token[], at: number, catalogue: readonly ToolWords[]) {
  const said = tokens[at]?.lower ?? "";
  const particle = tokens[at + 1]?.lower ?? "";
  const isVerb = (word: string) => catalogue.some((words) => words.verbs.includes(word));
  if (["up", "out", "down", "back", "off", "on", "in"].includes(particle) && isVerb(said + particle))
    return { verb: said + particle, next: at + 2 };
  const isIdle =
    ["up", "out", "down"].includes(particle) && !catalogue.some(({ spoken }) => spoken.includes(particle));
  return { verb: said, next: at + (isIdle ? 2 : 1) };
}

/** "Comment on that blog": the name of the thing is used as the verb that makes one. */
function nounAsVerb(tokens: readonly Token[], at: number, catalogue: readonly ToolWords[]): Head | null {
  const behind = tokens[at + 1];
  const isObject = behind?.kind === "word" && !POINTERS.has(behind.lower) && !PRONOUNS.has(behind.lower);
  if (isObject && !PREPOSITIONS.has(behind.lower)) return null;
  for (const verb of ["create", "send"]) {
    const matches = matchTools(catalogue, verb, tokens.slice(at));
    if (matches.length > 0) return { verb, next: at, matches };
  }
  return null;
}

/**
 * "remind me to call": the verb is related to the thing that a tool makes, a reminder. The words after "to"
 * are its text.
 */
function madeBy(tokens: readonly Token[], at: number, catalogue: readonly ToolWords[]): Head | null {
  const verb = tokens[at]?.lower ?? "";
  const makers = catalogue.filter(
    ({ thing, isMaking }) => isMaking && thing !== null && thing !== verb && sharesRoot(thing, verb),
  );
  const [maker, second] = makers;
  const isForMe = ["me", "us"].includes(tokens[at + 1]?.lower ?? "");
  if (
    !maker ||
    second ||
    !isForMe ||
    !["to", "that", "about"].includes(tokens[at + 2]?.lower ?? "") ||
    !tokens[at + 3]
  )
    return null;
  return {
    verb: "create",
    next: at + 3,
    bringsText: true,
    matches: [{ words: maker, fit: 0.9, consumed: 0, adjectives: [], modifier: null, isByVerb: false }],
  };
}

/** "... and a blog titled ...": another thing for the verb of the previous clause. */
export function carriedHead(
  tokens: readonly Token[],
  at: number,
  catalogue: readonly ToolWords[],
  verb: string | null,
): Head | null {
  if (verb === null) return null;
  const matches = matchTools(catalogue, verb, tokens.slice(at));
  const best = matches[0];
  if (!best || best.fit < 0.5) return null;
  const behind = tokens[at + best.consumed];
  const hasArguments = behind !== undefined && (!isSeparator(behind) || behind.text === "(");
  return hasArguments ? { verb, next: at, matches } : null;
}

/**
 * "weather for Oslo", "what's the weather in Oslo", "one summary": a clause that names a thing without a
 * verb.
 */
export function verblessHead(
  tokens: readonly Token[],
  at: number,
  catalogue: readonly ToolWords[],
): Head | null {
  const start = skipQuestion(tokens, at);
  const found = matchTools(catalogue, "get", tokens.slice(start)).filter(({ words }) =>
    isReadingVerb(words.verbs[0] ?? ""),
  );
  if ((found[0]?.fit ?? 0) >= 0.5) return { verb: "get", next: start, matches: found };
  return nominalHead(tokens, start, catalogue);
}

/** The first position after "what is" or "what's". */
function skipQuestion(tokens: readonly Token[], at: number): number {
  if (saysAt(tokens, at, ["what's"]) || saysAt(tokens, at, ["whats"])) return at + 1;
  return saysAt(tokens, at, ["what", "is"]) || saysAt(tokens, at, ["what", "are"]) ? at + 2 : at;
}

/** "one summary" means the tool `summarize`. */
function nominalHead(tokens: readonly Token[], at: number, catalogue: readonly ToolWords[]): Head | null {
  let position = at;
  const isLeading = (token: Token | undefined) =>
    token?.kind === "word" &&
    (DETERMINERS.has(token.lower) || COUNTS.has(token.lower) || ORDINALS.has(token.lower));
  while (isLeading(tokens[position])) position += 1;
  const noun = tokens[position];
  if (position === at || noun?.kind !== "word") return null;
  const verbs = new Set(
    catalogue
      .flatMap(({ spoken }) => spoken.slice(0, 1))
      .filter((verb) => sharesRoot(verb, stem(noun.lower))),
  );
  const [verb, second] = [...verbs];
  if (verb === undefined || second !== undefined) return null;
  return { verb, next: position + 1, matches: matchByVerb(catalogue, verb) };
}
