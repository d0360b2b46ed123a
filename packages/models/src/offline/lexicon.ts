/** English words that the rules know. No word of any application domain stands here. */

/**
 * Verbs that ask for the same kind of tool, the plainest first. A verb may stand in several groups:
 * which one is meant follows from the tools there are.
 */
const VERB_GROUPS: readonly (readonly string[])[] = [
  [
    "create",
    "add",
    "make",
    "new",
    "write",
    "post",
    "insert",
    "register",
    "publish",
    "open",
    "draft",
    "submit",
    "build",
    "compose",
    "start",
    "put",
    "upload",
    "save",
    "record",
    "log",
    "raise",
    "file",
    "leave",
    "schedule",
    "plan",
    "book",
    "arrange",
    "reserve",
    "organize",
    "set",
    "place",
    "generate",
  ],
  [
    "get",
    "show",
    "fetch",
    "read",
    "find",
    "retrieve",
    "view",
    "display",
    "check",
    "see",
    "tell",
    "load",
    "look",
    "lookup",
    "give",
    "return",
    "inspect",
    "describe",
  ],
  ["list", "show", "get", "find", "fetch", "display", "enumerate", "view", "see", "give", "return"],
  ["search", "find", "look", "lookup", "query", "seek"],
  [
    "update",
    "change",
    "edit",
    "modify",
    "set",
    "rename",
    "revise",
    "adjust",
    "correct",
    "mark",
    "amend",
    "patch",
    "alter",
  ],
  ["delete", "remove", "drop", "erase", "destroy", "discard", "trash"],
  ["send", "mail", "email", "message", "text", "deliver", "dispatch", "post"],
  ["order", "buy", "purchase", "place", "create"],
  ["cancel", "abort", "revoke"],
  ["close", "resolve", "finish", "complete"],
  ["move", "transfer", "relocate", "rename"],
  ["copy", "duplicate", "clone"],
  ["summarize", "summarise", "condense"],
  ["calculate", "compute"],
  ["schedule", "plan", "book", "arrange", "reserve", "organize", "organise"],
];

/** Verbs that are nouns as often: they open a clause only where a tool fits. */
const NOUN_VERBS = new Set([
  ..."post comment email mail message text order book list file search note log record plan schedule draft copy".split(
    " ",
  ),
  ..."query view display check report start set open close look new mark label tag call test build load place return".split(
    " ",
  ),
  ..."move transfer change edit drop patch clone purchase find save register reserve upload show read write".split(
    " ",
  ),
]);

/** Nouns in the names of tools more often than verbs, unless they come first. */
const WEAK_VERBS = new Set(
  "post comment email mail message text order book list file note log record plan schedule draft query view place new text search".split(
    " ",
  ),
);

const KNOWN_VERBS = new Set(VERB_GROUPS.flat());

/** True for a verb that some group holds. */
export const isKnownVerb = (word: string) => KNOWN_VERBS.has(word);
/** True for a known verb that may as well be a noun. */
export const isNounVerb = (word: string) => NOUN_VERBS.has(word);
/** True for a word that is a verb in a tool's name only when nothing better stands there. */
export const isWeakVerb = (word: string) => WEAK_VERBS.has(word);

/** How well a verb of the sentence fits a verb of a tool: 1 the same, 0.8 the plain word of its group, 0.6 the same group, 0 not. */
export function verbFit(said: string, offered: string): number {
  if (said === offered) return 1;
  let best = 0;
  for (const group of VERB_GROUPS) {
    if (!group.includes(said) || !group.includes(offered)) continue;
    best = Math.max(best, group[0] === said || group[0] === offered ? 0.8 : 0.6);
  }
  return best;
}

/** True when the verb asks for something that does not exist yet. */
export const isMakingVerb = (verb: string) => verbFit(verb, "create") >= 0.8 || verbFit(verb, "send") >= 0.8;
/** "search for files": the preposition belongs to the verb. */
export const takesFor = (verb: string) => ["search", "look", "ask", "seek", "query"].includes(verb);
/** True when the verb asks for many things. */
export const isListingVerb = (verb: string) => ["list", "search", "enumerate", "query"].includes(verb);

/** Words in front of a noun that say nothing about arguments. */
export const DETERMINERS = new Set(
  "a an the this that these those my our your his her their its another some new one all any".split(" "),
);
/** Determiners that point to something already spoken of. */
export const POINTERS = new Set("the this that these those his her their its".split(" "));
/** Words that stand for things already spoken of. */
export const PRONOUNS = new Set("it them that this these those him her".split(" "));
/** Parameters that hold one short value: a comma behind it begins something else. */
export const SHORT_NAMES = new Set(
  "name city country username path filename file folder directory phone code language currency unit status type category pattern".split(
    " ",
  ),
);
/** Counts written as words. */
export const COUNTS: Readonly<Record<string, number>> = {
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  both: 2,
};

/** Phrases at the start of a clause that change nothing; the longest first. */
export const OPENERS: readonly (readonly string[])[] = [
  ["i", "would", "like", "you", "to"],
  ["i", "would", "like", "to"],
  ["i", "want", "you", "to"],
  ["i'd", "like", "to"],
  ["i", "want", "to"],
  ["i", "need", "to"],
  ["can", "you"],
  ["could", "you"],
  ["would", "you"],
  ["go", "ahead", "and"],
  ["after", "that"],
  ["please"],
  ["kindly"],
  ["also"],
  ["first"],
  ["firstly"],
  ["second"],
  ["secondly"],
  ["third"],
  ["next"],
  ["now"],
  ["finally"],
  ["lastly"],
  ["afterwards"],
  ["let's"],
  ["and"],
  ["then"],
  [","],
];

/** Words that put a condition on a clause. The rules cannot express one, so they never swallow it as text. */
export const CONDITION_WORDS = new Set("if unless except otherwise until while whenever instead".split(" "));

/** Words that may stand between arguments. */
export const CONNECTORS = new Set("with having whose using where".split(" "));

/** Prepositions, with words of the parameters that they name. */
export const PREPOSITIONS: Readonly<Record<string, readonly string[]>> = {
  to: "to recipient destination dest target receiver assignee attendee new language".split(" "),
  into: "into destination dest target folder directory dir path".split(" "),
  from: "from sender source src origin".split(" "),
  in: "in city location place folder directory dir path repository repo channel project country region language currency timezone unit units calendar list category room".split(
    " ",
  ),
  for: "for city location place user customer query topic date person symbol".split(" "),
  at: "at time start when address location url price".split(" "),
  on: "on date day when start time".split(" "),
  of: "of city location place".split(" "),
  with: "with attendee guest participant".split(" "),
  as: "as status state role type format kind category".split(" "),
  by: "by author sender owner creator user assignee".split(" "),
  under: "under parent category folder directory".split(" "),
  until: "until end due".split(" "),
};

/** Words that bring in a value by its kind: what something is called, what it says, what it is about. */
export const VALUE_PHRASES: readonly {
  words: readonly string[];
  kind: "title" | "name" | "content" | "topic" | "query";
}[] = [
  { words: ["titled"], kind: "title" },
  { words: ["entitled"], kind: "title" },
  { words: ["named"], kind: "name" },
  { words: ["called"], kind: "name" },
  { words: ["labelled"], kind: "name" },
  { words: ["labeled"], kind: "name" },
  { words: ["about"], kind: "topic" },
  { words: ["regarding"], kind: "topic" },
  { words: ["concerning"], kind: "topic" },
  { words: ["on", "the", "topic", "of"], kind: "topic" },
  { words: ["matching"], kind: "query" },
  { words: ["that", "match"], kind: "query" },
  { words: ["saying"], kind: "content" },
  { words: ["that", "says"], kind: "content" },
  { words: ["which", "says"], kind: "content" },
  { words: ["that", "reads"], kind: "content" },
  { words: ["stating"], kind: "content" },
  { words: ["reading"], kind: "content" },
  { words: ["containing"], kind: "content" },
];

/** Names of parameters that hold the text of a thing, the likeliest first. */
export const CONTENT_NAMES = "content body text message description details comment note".split(" ");
/** Names of parameters that hold what a thing is called, the likeliest first. */
export const TITLE_NAMES = "title subject headline heading name summary label".split(" ");
/** The same, for "named" and "called". */
export const NAME_NAMES = "name title label subject summary filename path".split(" ");
/** Names of parameters that hold what to look for. */
export const QUERY_NAMES = "query q keyword search term pattern phrase".split(" ");
/** Names of parameters that say which thing is meant. */
export const IDENTITY_NAMES =
  "id number key uuid slug path filename file source src name title url symbol sku code".split(" ");
/** Endings of parameter names that point to a thing made elsewhere. */
export const LINK_ENDINGS = new Set("id ids uuid number key slug".split(" "));
