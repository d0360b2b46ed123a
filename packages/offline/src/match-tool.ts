import {
  isKnownVerb,
  isMakingVerb,
  isPlural,
  isReadingVerb,
  PREPOSITIONS,
  sharesRoot,
  stem,
  type ToolWords,
  takesFor,
  verbFit,
  wordsOf,
} from "@planwright/models/words";
import { distance } from "fastest-levenshtein";
import type { Token } from "./tokens.ts";
import { isTyped } from "./values.ts";

/** A tool that fits the verb and the noun of a clause. */
export interface ToolMatch {
  words: ToolWords;
  /** Above 0, at most 1. */
  fit: number;
  /** The position behind the noun, where the arguments begin. */
  next: number;
  /** How many things the words ask for ("two authors"); null when they name no number. */
  count: number | null;
  /** True when the noun is in the plural. */
  isPlural: boolean;
  /** True for "that blog" and "the blog": the thing was made before. */
  isPointing: boolean;
  /** True for "another blog" and "a blog": the thing is none that was made before. */
  isOther: boolean;
}

/** The beginning of a clause: its verb and the tools that fit. */
interface Head {
  verb: string;
  matches: ToolMatch[];
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));
/** Determiners that point to something already mentioned. */
export const POINTERS = words("the this that these those");
/** Words that replace the name of a thing that was mentioned before. */
export const PRONOUNS = words("it them that this these those him her");
const DETERMINERS = words("a an the this that these those my our your another some new one");
const INDEFINITE = words("a an another some one new");
const ALL = words("all every each any");
const COUNTS = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
/** Fits whose difference is smaller are equal. */
const TIE = 0.02;
/** Worse fits are no match. */
const LEAST_FIT = 0.4;

/** True for a determiner that is not a value by itself. */
export const isDeterminer = (token: Token | undefined) =>
  token?.kind === "word" && DETERMINERS.has(token.lower);

/**
 * The verb at a position and the tools that fit it best; null when no verb is there. A reading tool may be
 * named by its noun alone ("weather for Oslo"), and a tool that is a verb by the noun of it ("one summary").
 * @param thing - the kind of thing that "it" means there, if any
 */
export function headAt(
  tokens: readonly Token[],
  at: number,
  catalogue: readonly ToolWords[],
  thing: string | null,
): Head | null {
  const token = tokens[at];
  if (token?.kind !== "word") return null;
  const verb = token.lower;
  if (!isVerb(verb, catalogue)) return headWithoutVerb(tokens, at, catalogue);
  const named = best(matchTools(tokens, at + 1, catalogue, verb));
  if (named.length > 0) return { verb, matches: named };
  return { verb, matches: best(matchPronoun(tokens[at + 1], at + 1, catalogue, { verb, thing })) };
}

/** True for a verb of the rules or of the catalogue. */
export const isVerb = (word: string, catalogue: readonly ToolWords[]) =>
  isKnownVerb(word) || catalogue.some(({ verbs }) => verbs.includes(word));

function headWithoutVerb(tokens: readonly Token[], at: number, catalogue: readonly ToolWords[]): Head | null {
  const read = best(matchTools(tokens, at, catalogue, "get")).filter(
    ({ words, next }) => isReadingVerb(words.verbs[0] ?? "") && PREPOSITIONS.has(tokens[next]?.lower ?? ""),
  );
  if (read.length > 0) return { verb: "get", matches: read };
  const noun = tokens[at + 1];
  if (!isDeterminer(tokens[at]) || noun?.kind !== "word") return null;
  const related = catalogue.filter(({ spoken }) => sharesRoot(spoken[0] ?? "", stem(noun.lower)));
  const [only, second] = related;
  if (!only || second) return null;
  return { verb: only.spoken[0] ?? "", matches: [matchOf(only, 1, at + 2)] };
}

const matchOf = (tool: ToolWords, fit: number, next: number): ToolMatch => ({
  words: tool,
  fit,
  next,
  count: null,
  isPlural: false,
  isPointing: true,
  isOther: false,
});

/** The best of all matches, with those that fit equally well. */
function best(matches: readonly ToolMatch[]): ToolMatch[] {
  const top = Math.max(...matches.map(({ fit }) => fit));
  return matches.filter(({ fit }) => fit >= LEAST_FIT && top - fit < TIE);
}

function matchTools(
  tokens: readonly Token[],
  at: number,
  catalogue: readonly ToolWords[],
  verb: string,
): ToolMatch[] {
  const start = takesFor(verb) && tokens[at]?.lower === "for" ? at + 1 : at;
  return catalogue.flatMap((tool) => {
    const score = verbScore(tool, verb);
    if (score === 0) return [];
    const found = nounAt(tool, verb, tokens, start);
    return found ? { ...found, fit: found.fit * score } : [];
  });
}

const verbScore = (tool: ToolWords, verb: string) =>
  Math.max(0, ...tool.verbs.map((own, index) => verbFit(verb, own) * (index === 0 ? 1 : 0.95)));

/**
 * The verb with "it", "the results", a quotation or nothing: a tool for the thing that is meant, or a tool
 * that begins with this very verb and needs no thing.
 */
function matchPronoun(
  said: Token | undefined,
  next: number,
  catalogue: readonly ToolWords[],
  { verb, thing }: { verb: string; thing: string | null },
): ToolMatch[] {
  const isPronoun = said?.kind === "word" && PRONOUNS.has(said.lower);
  const about = catalogue.flatMap((tool) => {
    const fit = verbScore(tool, verb);
    return isPronoun && thing !== null && tool.thing === thing && fit > 0 ? matchOf(tool, fit, next) : [];
  });
  if (about.length > 0) return about;
  const isOpen = said === undefined || said.kind === "mark" || said.kind === "quoted";
  const isWith = said?.kind === "word" && said.lower === "with";
  if (!isOpen && !isPronoun && !isWith && !POINTERS.has(said.lower)) return [];
  return catalogue.flatMap((tool) => {
    const isNamed = isWith ? tool.spoken.join("") === verb : tool.verbs[0] === verb;
    return isNamed ? matchOf(tool, 0.5, next) : [];
  });
}

/** The noun phrase of a tool's thing: "the new calendar event"; null when the words name another thing. */
function nounAt(tool: ToolWords, verb: string, tokens: readonly Token[], start: number): ToolMatch | null {
  let at = start;
  let count: number | null = null;
  let isPointing = false;
  let isOther = false;
  for (; isBefore(tool, tokens[at]); at++) {
    const { lower = "" } = tokens[at] ?? {};
    isPointing ||= POINTERS.has(lower);
    isOther ||= INDEFINITE.has(lower);
    if (COUNTS.includes(lower)) count = COUNTS.indexOf(lower) + 2;
    if (/^\d{1,2}$/.test(lower)) count = Number(lower);
  }
  const said: string[] = [];
  for (; tokens[at]?.kind === "word" && namesTool(tool, stem(tokens[at]?.lower ?? "")); at++) {
    const isName =
      said.length > 0 &&
      /^\p{Lu}/u.test(tokens[at]?.text ?? "") &&
      /^\p{Ll}/u.test(tokens[at - 1]?.text ?? "");
    if (isName) break;
    said.push(tokens[at]?.lower ?? "");
  }
  if (tool.nouns.length === 0 && said.length === 0)
    return tool.qualifiers.length === 0 && tool.verbs[0] === verb
      ? { ...matchOf(tool, 0.9, start), isPointing: false }
      : null;
  const last = stem(said.at(-1) ?? "");
  if (!tool.nouns.includes(last) && !tool.describedNouns.includes(last)) return null;
  if (isThere(tool, verb, tokens[at])) return null;
  const isMany = isPlural(said.at(-1) ?? "");
  const fit = nounFit(tool, verb, { said, isMany, behind: tokens.slice(at, at + 12) });
  return { words: tool, fit, next: at, count, isPlural: isMany, isPointing, isOther };
}

/** A determiner or a count before the noun; "all blogs" only where a list is asked for. */
const isBefore = (tool: ToolWords, token: Token | undefined) =>
  token !== undefined &&
  token.kind !== "quoted" &&
  (DETERMINERS.has(token.lower) ||
    COUNTS.includes(token.lower) ||
    /^\d{1,2}$/.test(token.text) ||
    (tool.isListing && ALL.has(token.lower)) ||
    (isReadingVerb(tool.verbs[0] ?? "") && ["me", "us"].includes(token.lower)));

const namesTool = (tool: ToolWords, word: string) =>
  tool.nouns.includes(word) || tool.qualifiers.includes(word) || tool.describedNouns.includes(word);

/** "open issue 5": the id behind the noun shows that nothing new is asked for. */
const isThere = (tool: ToolWords, verb: string, behind: Token | undefined) =>
  tool.isMaking &&
  !["create", "make", "new"].includes(verb) &&
  !tool.verbs.includes(verb) &&
  behind?.kind !== "quoted" &&
  isTyped(behind);

function nounFit(
  tool: ToolWords,
  verb: string,
  { said, isMany, behind }: { said: readonly string[]; isMany: boolean; behind: readonly Token[] },
): number {
  const last = stem(said.at(-1) ?? "");
  const object = tool.objects.has(last) ? (tool.verbs.includes(verb) ? 0.9 : 0.75) : 0.5;
  const own = last === tool.thing ? 1 : tool.nouns.includes(last) ? Math.max(0.7, object) : object;
  const stems = said.map(stem);
  const covered = tool.nouns.filter((noun) => stems.includes(noun)).length;
  const coverage = covered === 0 ? 0.8 : 0.8 + 0.2 * (covered / tool.nouns.length);
  const foreign = stems.filter(
    (word) => !tool.nouns.includes(word) && !tool.qualifiers.includes(word),
  ).length;
  const isMeant = tool.isListing === isMany || isMakingVerb(verb);
  const number = isMeant ? 1 : isMany && !isTyped(behind[0]) ? 0.75 : 0.9;
  const isPlaced = [...said, ...behind.map(({ lower }) => lower)].some((word) =>
    tool.qualifiers.includes(stem(word)),
  );
  const place = tool.qualifiers.length === 0 || isPlaced ? 1 : tool.verbs.includes(verb) ? 0.9 : 0;
  return own * coverage * number * place * 0.9 ** foreign;
}

/** Names of at most three tools whose words come closest to a clause, the nearest first. */
export function nearestTools(clause: string, catalogue: readonly ToolWords[]): string[] {
  const said = wordsOf(clause, 40).map(stem);
  const score = (own: readonly string[]) =>
    own.reduce((sum, word) => sum + Math.max(0, ...said.map((each) => likeness(each, word))), 0);
  return catalogue
    .slice(0, 1_000)
    .map((tool) => {
      const named = score([...tool.verbs.slice(0, 1), ...tool.nouns]) / (tool.nouns.length + 1);
      const described = score(tool.describedNouns) / (tool.describedNouns.length + 1) / 2;
      return { name: tool.tool.name, score: named + described };
    })
    .filter((each) => each.score > 0)
    .toSorted((left, right) => right.score - left.score)
    .slice(0, 3)
    .map(({ name }) => name);
}

/** 1 for the same word, 0.6 for one typing mistake or two in a word of four letters or more, else 0. */
function likeness(said: string, word: string): number {
  if (said === word) return 1;
  if (said.length < 4 || Math.abs(said.length - word.length) > 2) return 0;
  return distance(said.slice(0, 40), word.slice(0, 40)) <= 2 ? 0.6 : 0;
}

const PLACING = words("on in at via using with through from");

/**
 * For one tool that several servers offer: the server that the last words name ("on the wiki server"), and
 * where these words begin; null when they name none.
 */
export function serverNamed(
  tokens: readonly Token[],
  end: number,
  matches: readonly ToolMatch[],
): { match: ToolMatch; end: number } | null {
  const last = tokens[end - 1]?.lower === "server" ? end - 1 : end;
  for (const match of matches) {
    const server = lettersOf(match.words.tool.server ?? "");
    for (let start = last - 1; start >= Math.max(match.next + 1, last - 4); start--) {
      if (
        lettersOf(
          tokens
            .slice(start, last)
            .map(({ lower }) => lower)
            .join(""),
        ) !== server
      )
        continue;
      const at = isDeterminer(tokens[start - 1]) ? start - 2 : start - 1;
      const token = tokens[at];
      if (token?.kind === "word" && PLACING.has(token.lower)) return { match, end: at };
    }
  }
  return null;
}

const lettersOf = (text: string) => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
