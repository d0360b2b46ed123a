import { isKnownVerb, PREPOSITIONS, stem, wordsOf } from "./word-forms.ts";

/** Facts from the first sentence of a tool's description. */
export interface Described {
  /** The verbs at its start: "Move or rename a file" -> move, rename. */
  verbs: readonly string[];
  /** Its first word, stemmed. It is a verb when the tool's name begins with the same word. */
  first: string | null;
  /**
   * The things that the tool acts on, stemmed ("file"), and other words for them: "a directory (folder)", "an
   * event, such as a meeting".
   */
  objects: ReadonlySet<string>;
  /** The words after its prepositions, stemmed: "to the shop" -> shop. */
  places: ReadonlySet<string>;
  /** Nouns and adjectives of its first words, stemmed. */
  nouns: readonly string[];
}

const SKIPPED = new Set(
  "a an the all one new current given single many of by for from in with to".split(" "),
);

/** Reads the start of a description; only the words up to the first preposition count. */
export function describedBy(description: string | undefined): Described {
  const sentence = (description ?? "").slice(0, 400).split(/\.(?:\s|$)/)[0] ?? "";
  const words = wordsOf(sentence, 16);
  const verbs = leadingVerbs(words);
  const afterVerbs = words.slice(verbs.length === 0 ? 0 : verbs.length * 2 - 1);
  const nouns: string[] = [];
  for (const word of afterVerbs) {
    if (nouns.length > 0 && (PREPOSITIONS.has(word) || word === "such" || word === "that")) break;
    if (!SKIPPED.has(word) && word !== "and" && word !== "or") nouns.push(stem(word));
    if (nouns.length === 4) break;
  }
  return {
    verbs,
    first: words[0] === undefined ? null : stem(words[0]),
    nouns,
    places: placesOf(afterVerbs),
    objects: new Set([...objectsOf(afterVerbs), ...synonymsIn(sentence)]),
  };
}

const ARTICLES = new Set(["a", "an", "the", "one"]);

/**
 * "Moves or renames" -> move, rename. An unknown word is a verb when an article follows: "Deploys a version".
 */
function leadingVerbs(words: readonly string[]): string[] {
  const verbs: string[] = [];
  for (let at = 0; at < words.length; at += 2) {
    const verb = stem(words[at] ?? "");
    if (!isKnownVerb(verb) && !ARTICLES.has(words[at + 1] ?? "")) break;
    // "Returns one order" is the language of interfaces and does not mean to send goods back.
    verbs.push(verb === "return" ? "get" : verb);
    if (words[at + 1] !== "or" && words[at + 1] !== "and") break;
  }
  return verbs;
}

/** The last word of the first noun phrase, and those of the noun phrases that "and" or "or" joins to it. */
function objectsOf(words: readonly string[]): string[] {
  const objects: string[] = [];
  let last: string | null = null;
  for (const word of words) {
    if (last !== null && (PREPOSITIONS.has(word) || word === "such" || word === "that")) break;
    if (word === "and" || word === "or") {
      if (last !== null) objects.push(last);
      last = null;
    } else if (!SKIPPED.has(word)) last = stem(word);
  }
  return last === null ? objects : [...objects, last];
}

/** The word after each preposition and its article. */
function placesOf(words: readonly string[]): Set<string> {
  const places = words.flatMap((word, at) => {
    const noun = words[at + (ARTICLES.has(words[at + 1] ?? "") ? 2 : 1)];
    return PREPOSITIONS.has(word) && noun !== undefined ? [stem(noun)] : [];
  });
  return new Set(places);
}

/** Other words for the thing: the word in brackets, and the words after "such as" or "also called". */
function synonymsIn(sentence: string): string[] {
  const brackets = /\(([^()]{1,60})\)/.exec(sentence)?.[1] ?? "";
  const examples =
    /(?:such as|also called|also known as|i\.e\.)\s+([^.;()]{1,60})/i.exec(sentence)?.[1] ?? "";
  return [brackets, examples]
    .flatMap((text) => text.split(/,|\bor\b|\band\b/i))
    .flatMap((text) => wordsOf(text, 4).at(-1) ?? [])
    .map(stem);
}
