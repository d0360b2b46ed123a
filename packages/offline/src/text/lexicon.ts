/** English function words that the rules know, without words of any application domain. */

const words = (text: string) => text.split(" ");
const wordSet = (text: string): ReadonlySet<string> => new Set(words(text));
const phrases = (texts: readonly string[]): readonly (readonly string[])[] => texts.map(words);

/** Words before a noun that say nothing about arguments. */
export const DETERMINERS = wordSet(
  "a an the this that these those my our your his her their its another some new one all any",
);
/** Determiners that never belong to a value. */
export const ARTICLES = wordSet("a an the this that these those my our your his her their its");
/** Determiners that point to something already mentioned. */
export const POINTERS = wordSet("the this that these those his her their its");
/** Words that replace the name of a thing that was mentioned before. */
export const PRONOUNS = wordSet("it them that this these those him her both");
/** Words for everything or nothing: they are no value, and "all files" names no file. */
export const QUANTIFIERS = wordSet(
  "all every each everything everyone everybody anything anyone anybody nothing nobody none something someone somebody whatever whichever any either neither",
);
/** Words for the speaker, whose name the sentence does not give. */
export const SPEAKERS = wordSet("me myself us ourselves you yourself i we");
/** Counts written as words. */
export const COUNTS: ReadonlyMap<string, number> = new Map([
  ["one", 1],
  ["two", 2],
  ["three", 3],
  ["four", 4],
  ["five", 5],
  ["six", 6],
  ["seven", 7],
  ["eight", 8],
  ["nine", 9],
  ["ten", 10],
  ["eleven", 11],
  ["twelve", 12],
  ["both", 2],
]);
/** Positions in a list, as in "the second one", from 0; -1 counts from the end. */
export const ORDINALS: ReadonlyMap<string, number> = new Map([
  ["first", 0],
  ["1st", 0],
  ["second", 1],
  ["2nd", 1],
  ["third", 2],
  ["3rd", 2],
  ["fourth", 3],
  ["4th", 3],
  ["fifth", 4],
  ["5th", 4],
  ["last", -1],
]);

/** Phrases at the start of a clause that change nothing; the longest first. */
export const OPENERS = phrases([
  "i would like you to",
  "i would like to",
  "i want you to",
  "i'd like you to",
  "i'd like to",
  "i want to",
  "i need you to",
  "i need to",
  "can you",
  "can u",
  "could you",
  "could u",
  "would you",
  "will you",
  "go ahead and",
  "thank you",
  "please",
  "pls",
  "plz",
  "kindly",
  "hey",
  "hi",
  "hello",
  "ok",
  "okay",
  "thanks",
  "just",
  "also",
  "first",
  "firstly",
  "now",
  "let's",
  "and",
  "then",
  ",",
]);
/** Phrases at the start of a clause that put it after the previous one. */
export const SEQUEL_OPENERS = phrases([
  "after that",
  "after this",
  "afterwards",
  "once that is done",
  "once done",
  "when done",
  "next",
  "second",
  "secondly",
  "third",
  "thirdly",
  "finally",
  "lastly",
]);
/** Words of courtesy anywhere outside a value; the longest first. */
export const COURTESIES = phrases([
  "thank you",
  "for me",
  "for us",
  "please",
  "pls",
  "plz",
  "thanks",
  "thx",
  "too",
  "as well",
]);

/** Words for a condition. The rules cannot plan a condition, so these words never become part of a text. */
export const CONDITION_WORDS = wordSet("if unless except otherwise until while whenever instead");

/** Words that end a name, but not a text. */
export const NAME_ENDS = wordSet(
  "but or nor not no like than when before without now asap again later soon quickly immediately urgently daily weekly monthly yearly",
);

/** Words that may come between arguments. */
export const CONNECTORS = wordSet("with having whose using where via");

/**
 * Phrases that make the number after them a limit, with words in the names of parameters for such a limit.
 */
export const BOUNDS: readonly { words: readonly string[]; names: readonly string[] }[] = [
  ...phrases([
    "under",
    "below",
    "less than",
    "cheaper than",
    "up to",
    "at most",
    "no more than",
    "no later than",
  ]).map((said) => ({ words: said, names: ["max", "maximum"] })),
  ...phrases(["over", "above", "more than", "at least", "no less than"]).map((said) => ({
    words: said,
    names: ["min", "minimum"],
  })),
];

/** The kind of value that a phrase such as "titled" or "about" introduces. */
export type PhraseKind = "title" | "name" | "content" | "topic" | "query" | "reason";

/** Words that introduce a value of one kind: a name, a text, a topic. */
export const VALUE_PHRASES: readonly { words: readonly string[]; kind: PhraseKind }[] = [
  ...phrases(["titled", "entitled"]).map((said) => ({ words: said, kind: "title" as const })),
  ...phrases(["named", "called", "labelled", "labeled"]).map((said) => ({
    words: said,
    kind: "name" as const,
  })),
  ...phrases(["about", "regarding", "concerning", "on the topic of"]).map((said) => ({
    words: said,
    kind: "topic" as const,
  })),
  ...phrases(["matching", "that match", "containing the words"]).map((said) => ({
    words: said,
    kind: "query" as const,
  })),
  ...phrases(["saying", "that says", "which says", "that reads", "stating", "reading", "containing"]).map(
    (said) => ({
      words: said,
      kind: "content" as const,
    }),
  ),
  ...phrases(["because of", "because", "due to"]).map((said) => ({ words: said, kind: "reason" as const })),
];

/** Adjectives for the state or position of a thing: "the old file" names no file. */
export const PLAIN_ADJECTIVES = wordSet(
  "current latest last next previous same other old older oldest newest recent best worst right wrong whole entire good bad big small slow fast busy empty full broken failed failing active inactive open closed first second third few many most least only own different similar certain available unused stale",
);
