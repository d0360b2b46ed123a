import { isKnownVerb, isNounVerb, isPlural, stem, type ToolWords, verbFit } from "@planwright/models/words";
import { COUNTS, COURTESIES, ORDINALS, POINTERS, PRONOUNS } from "../text/lexicon.ts";
import { isLeading } from "../text/noun-phrase.ts";
import { isSeparator, skipSeparators } from "../text/separators.ts";
import type { Token } from "../text/tokens.ts";
import { isTyped, valueFor } from "../text/value-for.ts";
import { beginsPhrase } from "../values/phrases.ts";
import { carriedHead, type Head, headAt, saysAt, skipOpeners, verblessHead } from "./heads.ts";
import { matchTools, type ToolMatch } from "./match-tool.ts";

/** One instruction of the sentence. */
export interface Clause {
  /** The words exactly as in the sentence. */
  text: string;
  /** Null when the clause does not begin with a verb. */
  verb: string | null;
  /** Tokens after the verb. */
  rest: Token[];
  matches: ToolMatch[];
  /** How many objects the words ask for ("two authors"); null when they name no number. */
  count: number | null;
  /** True when the noun is in the plural. */
  isPlural: boolean;
  /** True when "then" or a new sentence comes before it. */
  isSequel: boolean;
}

/**
 * Splits a sentence into clauses. "then" and ";" always divide. A comma, "and" or a full stop divides only
 * when a verb follows, or another thing for the same verb ("and a blog titled ..."), because these often
 * occur inside values too.
 */
export function splitClauses(
  tokens: readonly Token[],
  sentence: string,
  catalogue: readonly ToolWords[],
): Clause[] {
  const clauses: Clause[] = [];
  let at = 0;
  let isBehind = false;
  while (at < tokens.length) {
    const { next: start, isSequel } = skipOpeners(tokens, at);
    if (start >= tokens.length) break;
    const previous = clauses.at(-1) ?? null;
    const head =
      sameThingHead(tokens, start, catalogue, previous) ??
      headAt(tokens, start, catalogue) ??
      carriedHead(tokens, start, catalogue, previous?.verb ?? null) ??
      verblessHead(tokens, start, catalogue);
    const end = endOfClause(tokens, head?.next ?? start + 1, head, catalogue);
    const clause = clauseOf(tokens.slice(start, trimmed(tokens, start, end)), {
      sentence,
      head: head && { ...head, next: head.next - start },
      isSequel: isBehind || isSequel,
      catalogue,
    });
    if (previous && clause.verb === null && namesArgument(tokens, start, start, previous.matches))
      extend(previous, tokens, { from: start, to: end, sentence });
    else if (clause.verb !== null || !isOnlyCourtesy(tokens.slice(start, end))) clauses.push(clause);
    const next = skipSeparators(tokens, end);
    isBehind =
      tokens[next]?.lower === "then" ||
      tokens.slice(end, next).some((token) => token.text === "." || token.text === ";");
    at = tokens[next]?.lower === "then" ? next + 1 : next;
  }
  return clauses;
}

/** "delete post 88 and post 91": the noun of the previous clause is not read as a verb. */
function sameThingHead(
  tokens: readonly Token[],
  at: number,
  catalogue: readonly ToolWords[],
  previous: Clause | null,
): Head | null {
  const thing = previous?.matches[0]?.words.thing ?? null;
  if (thing === null || tokens[at]?.kind !== "word" || stem(tokens[at]?.lower ?? "") !== thing) return null;
  return isTyped(tokens[at + 1]) ? carriedHead(tokens, at, catalogue, previous?.verb ?? null) : null;
}

/**
 * "Create user maria. Email: maria@x.test": an argument in a separate sentence belongs to the previous
 * clause.
 */
function extend(
  clause: Clause,
  tokens: readonly Token[],
  { from, to, sentence }: { from: number; to: number; sentence: string },
): void {
  const last = clause.rest.at(-1);
  const argument = tokens.slice(from, trimmed(tokens, from, to));
  const comma: Token = { kind: "mark", text: ",", lower: ",", start: argument[0]?.start ?? 0, end: 0 };
  clause.text = `${clause.text}, ${sentence.slice(argument[0]?.start, argument.at(-1)?.end)}`;
  if (last) clause.rest.push(comma);
  clause.rest.push(...argument);
}

/** "thanks", "please": a clause that asks for nothing. */
function isOnlyCourtesy(tokens: readonly Token[]): boolean {
  const plain = tokens.filter((token) => !isSeparator(token));
  return COURTESIES.some((words) => words.length === plain.length && saysAt(plain, 0, words));
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

/**
 * Tools that change such a thing. When the sentence says only its id: tools that take the field to change.
 */
function matchChange(catalogue: readonly ToolWords[], verb: string, rest: readonly Token[]): ToolMatch[] {
  const named = matchTools(catalogue, verb, rest);
  if (named.length > 0) return named;
  const said = rest.map((token) => stem(token.lower));
  return catalogue
    .filter((words) => verbFit(verb, words.verbs[0] ?? "") > 0)
    .filter(({ parameters }) =>
      parameters.some((each) => each.words.every((word) => said.includes(stem(word)))),
    )
    .map((words) => ({ words, fit: 0.5, consumed: 0, adjectives: [], modifier: null, isByVerb: true }));
}

/** The words after the verb. When they are a text, a word that introduces a text is put before them. */
function behindHead(tokens: readonly Token[], { next, bringsText }: Head): Token[] {
  const rest = tokens.slice(next);
  const [first] = rest;
  return first && bringsText === true
    ? [{ kind: "word", text: "saying", lower: "saying", start: first.start, end: first.start }, ...rest]
    : rest;
}

function clauseOf(tokens: readonly Token[], { sentence, head, isSequel, catalogue }: ClauseContext): Clause {
  const plain = head ? behindHead(tokens, head) : [...tokens];
  const isNamed = head?.matches.some((match) => !match.isByVerb) === true;
  const changed = head && !isNamed && verbFit(head.verb, "update") > 0 ? reorderChange(plain) : null;
  const rest = changed ?? plain;
  const matches = head && changed ? matchChange(catalogue, head.verb, changed) : (head?.matches ?? []);
  const leading = rest.slice(0, rest.findIndex((token) => !isLeading(token)) + 1);
  const count = leading.map(
    (token) => COUNTS.get(token.lower) ?? (token.kind === "number" ? Number(token.text) : null),
  );
  const noun = matches[0] ? rest[matches[0].consumed - 1] : undefined;
  const isMeasure = matches[0]?.adjectives.some((token) => token.kind === "number");
  return {
    text: sentence.slice(tokens[0]?.start, tokens.at(-1)?.end),
    verb: head?.verb ?? null,
    rest,
    matches,
    count:
      leading.length > 1 && isMeasure !== true && (matches[0]?.consumed ?? 0) > 0
        ? (count.slice(0, -1).find((each) => each !== null) ?? null)
        : null,
    isPlural: noun !== undefined && isPlural(noun.lower),
    isSequel,
  };
}

/** Leaves out marks, "and" and courtesies at the end of a clause. */
function trimmed(tokens: readonly Token[], start: number, end: number): number {
  let last = end;
  for (let length = 1; length > 0; last -= length) {
    const courtesy = COURTESIES.find((words) => isCourtesy(tokens, start, last - words.length, words));
    length = last > start + 1 && isSeparator(tokens[last - 1]) ? 1 : (courtesy?.length ?? 0);
  }
  return last;
}

/** "saying thanks" ends with a text, and not with a courtesy. */
const isCourtesy = (tokens: readonly Token[], start: number, at: number, words: readonly string[]) =>
  at > start + 1 && saysAt(tokens, at, words) && !beginsPhrase(tokens, at - 1);

const isWord = (token: Token | undefined, word: string) => token?.kind === "word" && token.lower === word;

/** The first position that belongs to the next clause, or to the marks before it. */
function endOfClause(
  tokens: readonly Token[],
  from: number,
  head: Head | null,
  catalogue: readonly ToolWords[],
): number {
  for (let at = from; at < tokens.length; at++) {
    const token = tokens[at];
    if (isWord(token, "then") || (token?.kind === "mark" && token.text === ";")) return at;
    if (!isSeparator(token) || token?.text === ":") continue;
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
  const { next: start } = skipOpeners(tokens, behind);
  const token = tokens[start];
  if (token?.kind !== "word" || namesArgument(tokens, start, from, current?.matches ?? [])) return false;
  const head = headAt(tokens, start, catalogue);
  const best = head?.matches[0];
  if (head && !isNounVerb(token.lower) && isKnownVerb(token.lower)) return true;
  if (best && !best.isByVerb && best.fit >= 0.4) return true;
  if (head && best?.isByVerb === true && showsObject(tokens, head.next)) return true;
  if (head && PRONOUNS.has(tokens[start + 1]?.lower ?? "")) return true;
  return carriedHead(tokens, start, catalogue, current?.verb ?? null) !== null;
}

/** True when the words after a verb can only be its object: "it", "the first one", "a.txt". */
function showsObject(tokens: readonly Token[], at: number): boolean {
  const [first, second] = [tokens[at], tokens[at + 1]];
  if (PRONOUNS.has(first?.lower ?? "") || isTyped(first)) return true;
  return POINTERS.has(first?.lower ?? "") && ORDINALS.has(second?.lower ?? "");
}

/**
 * True when the word names an argument of the current clause that has no value yet, and a fitting value
 * follows.
 */
function namesArgument(
  tokens: readonly Token[],
  at: number,
  from: number,
  matches: readonly ToolMatch[],
): boolean {
  const word = stem(tokens[at]?.lower ?? "");
  const value = tokens[at + 1]?.kind === "mark" ? tokens[at + 2] : tokens[at + 1];
  if (!value || isSeparator(value)) return false;
  const wasNamed = tokens
    .slice(from, at)
    .some((token) => token.kind === "word" && stem(token.lower) === word);
  if (wasNamed) return false;
  return matches
    .slice(0, 3)
    .some(({ words }) =>
      words.parameters.some(
        (each) => each.words.map(stem).includes(word) && valueFor(each, value.text, value.kind) !== undefined,
      ),
    );
}
