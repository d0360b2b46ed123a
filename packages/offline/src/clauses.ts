import type { ToolWords } from "@planwright/models/words";
import { isSeparator, keyAt } from "./arguments.ts";
import { headAt, isVerb, PRONOUNS, type ToolMatch } from "./match-tool.ts";
import type { Token } from "./tokens.ts";

/** Words before a verb that change nothing. */
const OPENERS = new Set(["please", "also", "first", "now", "and", "next", "finally"]);
const STOPS = new Set([".", ";", "!", "?"]);

const isStop = (token: Token | undefined) => token?.kind === "mark" && STOPS.has(token.text);
const isWord = (token: Token | undefined, word: string) => token?.kind === "word" && token.lower === word;

/**
 * The position behind a clause. "then", ";" and full stops always divide. A comma or "and" divides when a verb
 * follows.
 * @param matches - the tools that the verb and the noun of this clause fit
 */
export function endOfClause(
  tokens: readonly Token[],
  from: number,
  catalogue: readonly ToolWords[],
  matches: readonly ToolMatch[],
): number {
  for (let at = from; at < tokens.length; at++) {
    const token = tokens[at];
    if (isStop(token) || isWord(token, "then")) return at;
    if (!isSeparator(token)) continue;
    let behind = at;
    while (isSeparator(tokens[behind])) behind += 1;
    if (isStop(tokens[behind]) || isWord(tokens[behind], "then")) return at;
    if (beginsClause(tokens, behind, catalogue, matches)) return at;
    at = behind - 1;
  }
  return tokens.length;
}

function beginsClause(
  tokens: readonly Token[],
  from: number,
  catalogue: readonly ToolWords[],
  matches: readonly ToolMatch[],
): boolean {
  let at = from;
  while (tokens[at]?.kind === "word" && OPENERS.has(tokens[at]?.lower ?? "")) at += 1;
  const token = tokens[at];
  if (token?.kind !== "word" || !isVerb(token.lower, catalogue)) return false;
  if ((headAt(tokens, at, catalogue, null)?.matches.length ?? 0) > 0) return true;
  if (matches.some(({ words }) => keyAt(tokens, at, words.parameters) !== null)) return false;
  return /^\p{Ll}/u.test(token.text) || PRONOUNS.has(tokens[at + 1]?.lower ?? "");
}

/** Skips marks, "then" and words before a verb; says whether the next clause comes after the previous one. */
export function startOfClause(tokens: readonly Token[], from: number): { start: number; isSequel: boolean } {
  let start = from;
  let isSequel = false;
  for (; start < tokens.length; start++) {
    const token = tokens[start];
    const isOrder = isStop(token) || isWord(token, "then");
    if (!isOrder && !isSeparator(token) && !(token?.kind === "word" && OPENERS.has(token.lower))) break;
    isSequel ||= isOrder || isWord(token, "next") || isWord(token, "finally");
  }
  return { start, isSequel };
}
