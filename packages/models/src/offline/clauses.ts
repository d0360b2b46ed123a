import {
  COUNTS,
  isKnownVerb,
  isNounVerb,
  OPENERS,
  POINTERS,
  PREPOSITIONS,
  PRONOUNS,
  verbFit,
} from "./lexicon.ts";
import { isLeading, matchTools, type ToolMatch } from "./match-tool.ts";
import { valueFor } from "./parameter.ts";
import { isSeparator, skipSeparators } from "./reading.ts";
import type { Token } from "./tokens.ts";
import type { ToolWords } from "./tool-words.ts";
import { isPlural, stem } from "./words.ts";

/** One thing that the sentence asks for. */
export interface Clause {
  /** The words as they stand in the sentence. */
  text: string;
  /** Null when no verb opens the clause. */
  verb: string | null;
  /** Tokens behind the verb. */
  rest: Token[];
  matches: ToolMatch[];
  /** How many objects the words ask for ("two authors"); null when they do not say. */
  count: number | null;
  /** True when the noun stands in the plural. */
  isPlural: boolean;
  /** True when "then" or a new sentence stands in front of it. */
  isSequel: boolean;
}

/** What opens a clause: the verb, and where the words behind it begin. */
interface Head {
  verb: string;
  next: number;
  matches: ToolMatch[];
}

/**
 * Splits a sentence into clauses. "then" and ";" always divide; a comma, "and" or a full stop only where a verb follows, or a
 * further thing for the same verb ("and a blog titled ..."), because they stand inside values as often.
 */
export function splitClauses(
  tokens: readonly Token[],
  sentence: string,
  catalogue: readonly ToolWords[],
): Clause[] {
  const clauses: Clause[] = [];
  let at = 0;
  let isSequel = false;
  while (at < tokens.length) {
    const start = skipOpeners(tokens, at);
    if (start >= tokens.length) break;
    const head =
      headAt(tokens, start, catalogue) ?? carriedHead(tokens, start, catalogue, clauses.at(-1)?.verb ?? null);
    const end = endOfClause(tokens, head?.next ?? start + 1, head, catalogue);
    clauses.push(
      clauseOf(tokens.slice(start, trimmed(tokens, start, end)), {
        sentence,
        head: head && { ...head, next: head.next - start },
        isSequel,
        catalogue,
      }),
    );
    const next = skipSeparators(tokens, end);
    isSequel =
      tokens[next]?.lower === "then" ||
      tokens.slice(end, next).some((token) => token.text === "." || token.text === ";");
    at = tokens[next]?.lower === "then" ? next + 1 : next;
  }
  return clauses;
}

interface ClauseContext {
  sentence: string;
  head: Head | null;
  isSequel: boolean;
  catalogue: readonly ToolWords[];
}

/** "change the title of that blog to Oaks" is read as "change that blog with title Oaks". */
function reorderChange(rest: readonly Token[]): Token[] | null {
  const of = rest.findIndex((token, index) => index > 0 && index < 5 && isWord(token, "of"));
  const to = rest.findIndex((token, index) => index > of + 1 && isWord(token, "to"));
  const preposition = rest[to];
  if (of === -1 || !preposition || to === rest.length - 1) return null;
  const named = rest.slice(
    rest.findIndex((token) => !isLeading(token)),
    of,
  );
  const connector: Token = { ...preposition, text: "with", lower: "with" };
  return named.length > 0 ? [...rest.slice(of + 1, to), connector, ...named, ...rest.slice(to + 1)] : null;
}

function clauseOf(tokens: readonly Token[], { sentence, head, isSequel, catalogue }: ClauseContext): Clause {
  const plain = head ? tokens.slice(head.next) : [...tokens];
  const changed = head && verbFit(head.verb, "update") > 0 ? reorderChange(plain) : null;
  const rest = changed ?? plain;
  const matches = head && changed ? matchTools(catalogue, head.verb, changed) : (head?.matches ?? []);
  const leading = rest.slice(0, rest.findIndex((token) => !isLeading(token)) + 1);
  const count = leading.map(
    (token) => COUNTS[token.lower] ?? (token.kind === "number" ? Number(token.text) : null),
  );
  const noun = matches[0] ? rest[matches[0].consumed - 1] : undefined;
  const isMeasure = matches[0]?.adjectives.some((token) => token.kind === "number");
  return {
    text: sentence.slice(tokens[0]?.start, tokens.at(-1)?.end),
    verb: head?.verb ?? null,
    rest,
    matches,
    count:
      leading.length > 1 && isMeasure !== true
        ? (count.slice(0, -1).find((each) => each !== null) ?? null)
        : null,
    isPlural: noun !== undefined && isPlural(noun.lower),
    isSequel,
  };
}

/** Leaves out marks and "and" at the end of a clause. */
function trimmed(tokens: readonly Token[], start: number, end: number): number {
  let last = end;
  while (last > start + 1 && isSeparator(tokens[last - 1])) last -= 1;
  return last;
}

/** The first position behind words that change nothing: "please", "can you", "1.". */
function skipOpeners(tokens: readonly Token[], at: number): number {
  let next = at;
  for (let moved = true; moved; ) {
    moved = false;
    if (tokens[next]?.kind === "mark" && tokens[next + 1]) moved = true;
    if (/^\d{1,2}$/.test(tokens[next]?.text ?? "") && [".", ")"].includes(tokens[next + 1]?.text ?? ""))
      moved = true;
    if (["-", "*", "•"].includes(tokens[next]?.text ?? "")) moved = true;
    if (moved) next += 1;
    const opener = OPENERS.find((words) => words.every((word, index) => isWord(tokens[next + index], word)));
    if (opener && tokens[next + opener.length]) {
      next += opener.length;
      moved = true;
    }
  }
  return next;
}

const isWord = (token: Token | undefined, word: string) => token?.kind === "word" && token.lower === word;

/** The verb at a position, with the tools that fit it; null when no verb stands there. */
function headAt(tokens: readonly Token[], at: number, catalogue: readonly ToolWords[]): Head | null {
  const token = tokens[at];
  if (token?.kind !== "word") return null;
  const particle = ["up", "out", "down"].includes(tokens[at + 1]?.lower ?? "") ? 1 : 0;
  const next = at + 1 + particle;
  const joined = `${token.lower}${particle === 1 ? (tokens[at + 1]?.lower ?? "") : ""}`;
  const verb = catalogue.some((words) => words.verbs.includes(joined)) ? joined : token.lower;
  const rest = tokens.slice(next);
  const matches = matchTools(catalogue, verb, rest);
  if (isKnownVerb(verb) || catalogue.some((words) => words.verbs[0] === verb)) {
    if (matches.length > 0) return { verb, next, matches };
  }
  const asNoun = catalogue.some((words) => words.thing === token.lower)
    ? nounAsVerb(tokens, at, catalogue)
    : null;
  if (asNoun) return asNoun;
  return isKnownVerb(verb) ? { verb, next, matches } : null;
}

/** "Comment on that blog": the thing's own name as the verb that makes one. */
function nounAsVerb(tokens: readonly Token[], at: number, catalogue: readonly ToolWords[]): Head | null {
  const behind = tokens[at + 1];
  if (behind?.kind === "word" && !Object.hasOwn(PREPOSITIONS, behind.lower) && !POINTERS.has(behind.lower))
    return null;
  for (const verb of ["create", "send"]) {
    const matches = matchTools(catalogue, verb, tokens.slice(at));
    if (matches.length > 0) return { verb, next: at, matches };
  }
  return null;
}

/** "... and a blog titled ...": a further thing for the verb of the clause before. */
function carriedHead(
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

/** The first position that belongs to the next clause, or to the marks in front of it. */
function endOfClause(
  tokens: readonly Token[],
  from: number,
  head: Head | null,
  catalogue: readonly ToolWords[],
): number {
  for (let at = from; at < tokens.length; at++) {
    const token = tokens[at];
    if (isWord(token, "then") || (token?.kind === "mark" && token.text === ";")) return at;
    if (!isSeparator(token)) continue;
    const behind = skipSeparators(tokens, at);
    if (isWord(tokens[behind], "then")) return at;
    if (beginsClause(tokens, behind, from, head, catalogue)) return at;
    at = behind - 1;
  }
  return tokens.length;
}

function beginsClause(
  tokens: readonly Token[],
  behind: number,
  from: number,
  current: Head | null,
  catalogue: readonly ToolWords[],
): boolean {
  const start = skipOpeners(tokens, behind);
  const token = tokens[start];
  if (token?.kind !== "word" || namesArgument(tokens, start, from, current)) return false;
  const head = headAt(tokens, start, catalogue);
  if (head && !isNounVerb(token.lower) && isKnownVerb(token.lower)) return true;
  if (head?.matches[0] && head.matches[0].fit >= 0.4) return true;
  if (head && PRONOUNS.has(tokens[start + 1]?.lower ?? "")) return true;
  return carriedHead(tokens, start, catalogue, current?.verb ?? null) !== null;
}

/** True when the word names an argument of the clause under way that has no value yet, and a fitting value follows. */
function namesArgument(tokens: readonly Token[], at: number, from: number, current: Head | null): boolean {
  const word = stem(tokens[at]?.lower ?? "");
  const value = tokens[at + 1]?.kind === "mark" ? tokens[at + 2] : tokens[at + 1];
  if (!value || isSeparator(value)) return false;
  const wasNamed = tokens
    .slice(from, at)
    .some((token) => token.kind === "word" && stem(token.lower) === word);
  if (wasNamed) return false;
  return (current?.matches.slice(0, 3) ?? []).some(({ words }) =>
    words.parameters.some(
      (each) => each.words.map(stem).includes(word) && valueFor(each, value.text, value.kind) !== undefined,
    ),
  );
}
