import { ARTICLES } from "./lexicon.ts";
import type { Token } from "./tokens.ts";

/** True for `,`, `and` and other marks between arguments. */
export const isSeparator = (token: Token | undefined) =>
  token !== undefined &&
  token.kind !== "quoted" &&
  (token.kind === "mark" || token.lower === "and" || token.lower === "&" || token.lower === "plus");

/** The first position at or after `at` that is no separator. */
export function skipSeparators(tokens: readonly Token[], at: number): number {
  let next = at;
  while (isSeparator(tokens[next])) next += 1;
  return next;
}

/**
 * The first position at or after `at` that is no article, pointer or possessive; "The Hague" keeps its
 * article, and "new york" its "new".
 */
export function skipDeterminers(tokens: readonly Token[], at: number): number {
  let next = at;
  while (isArticle(tokens, next) && tokens[next + 1]) next += 1;
  return next;
}

function isArticle(tokens: readonly Token[], at: number): boolean {
  const [token, next] = [tokens[at], tokens[at + 1]];
  if (token?.kind !== "word" || !ARTICLES.has(token.lower)) return false;
  const isName = /^\p{Lu}\p{Ll}/u.test(token.text) && /^\p{Lu}\p{Ll}/u.test(next?.text ?? "");
  return !isName || token.start === 0;
}
