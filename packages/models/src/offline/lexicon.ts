/** English function words that the rules know. No word of any application domain stands here. */

const words = (text: string) => text.split(" ");
const wordSet = (text: string): ReadonlySet<string> => new Set(words(text));
const phrases = (texts: readonly string[]): readonly (readonly string[])[] => texts.map(words);

/** Words in front of a noun that say nothing about arguments. */
export const DETERMINERS = wordSet(
  "a an the this that these those my our your his her their its another some new one all any",
);
/** Those of them that never belong to a value. */
export const ARTICLES = wordSet("a an the this that these those my our your his her their its");
/** Determiners that point to something already spoken of. */
export const POINTERS = wordSet("the this that these those his her their its");
/** Words that stand for things already spoken of. */
export const PRONOUNS = wordSet("it them that this these those him her both");
/** Words for everything or nothing: they are no value, and "all files" is no file. */
export const QUANTIFIERS = wordSet(
  "all every each everything everyone everybody anything anyone anybody nothing nobody none something someone somebody whatever whichever any either neither",
);
/** Words for those who speak; who that is, the sentence does not say. */
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
/** Places in a list, as "the second one" says them, from 0; -1 counts from the end. */
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
/** Phrases at the start of a clause that put it behind the one before. */
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

/** Words that put a condition on a clause. The rules cannot express one, so they never swallow it as text. */
export const CONDITION_WORDS = wordSet("if unless except otherwise until while whenever instead");

/** Words that no name goes on with, though a text may. */
export const NAME_ENDS = wordSet(
  "but or nor not no like than when before without now asap again later soon quickly immediately urgently daily weekly monthly yearly",
);

/** Words that may stand between arguments. */
export const CONNECTORS = wordSet("with having whose using where via");

/**
 * What prepositions say of the parameter that takes the value behind them: words of its name, the likeliest first.
 * They are words for relations (a place, a source, who does it), not for things of some domain.
 */
export const PREPOSITIONS: ReadonlyMap<string, readonly string[]> = new Map([
  ["to", words("to recipient destination dest target receiver assignee new language")],
  ["into", words("into destination dest target folder directory dir")],
  ["from", words("from sender source src origin")],
  ["in", words("in location place folder directory dir path")],
  ["for", words("for location place topic query date")],
  ["at", words("at time start when location place address url")],
  ["on", words("on date day when start time")],
  ["of", words("of location place")],
  ["with", words("with participant")],
  ["as", words("as status state role type format kind")],
  ["by", words("by author sender owner creator assignee")],
  ["under", words("under parent folder directory")],
  ["since", words("since from start after")],
  ["until", words("until end due")],
  ["through", words("until end")],
  ["till", words("until end due")],
  ["between", words("between from start")],
  ["off", []],
]);

/** Phrases in front of a number that make it a bound, with words of the parameters that hold one. */
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

/** What a phrase such as "titled" or "about" brings. */
export type PhraseKind = "title" | "name" | "content" | "topic" | "query" | "reason";

/** Words that bring in a value by its kind: what something is called, what it says, what it is about. */
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

/** Names of parameters that hold the text of a thing, the likeliest first. */
export const CONTENT_NAMES = words("content body text message description details comment note notes");
/** Names of parameters that hold what a thing is called, the likeliest first. */
export const TITLE_NAMES = words("title subject headline heading name summary label");
/** The same, for "named" and "called". */
export const NAME_NAMES = words("name title label subject summary filename path");
/** Names of parameters that hold what to look for. */
export const QUERY_NAMES = words("query q keyword search term pattern phrase");
/** Names of parameters that hold why something is done. */
export const REASON_NAMES = words("reason why cause justification purpose");
/** Names of parameters that say which thing is meant. */
export const IDENTITY_NAMES = words(
  "id number key uuid slug path filename file source src name title url code",
);
/** Endings of parameter names that point to a thing made elsewhere. */
export const LINK_ENDINGS = wordSet("id ids uuid number key slug");
/** Adjectives for the state or place of a thing: "the old file" names no file. */
export const PLAIN_ADJECTIVES = wordSet(
  "current latest last next previous same other old older oldest newest recent best worst right wrong whole entire good bad big small slow fast busy empty full broken failed failing active inactive open closed first second third few many most least only own different similar certain available unused stale",
);
