/**
 * The words of an identifier, in lower case; the same for `listCommentsByBlog` and `list_comments-by.blog`.
 */
export function splitName(name: string): string[] {
  return name
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")
    .map((word) => word.toLowerCase());
}

/**
 * A word without its plural or third-person ending: "authors", "replies", "fetches" -> "author", "reply",
 * "fetch".
 */
export function stem(word: string): string {
  if (word.length <= 3) return word;
  if (word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  if (/(ss|x|z|ch|sh)es$/.test(word)) return word.slice(0, -2);
  if (word.endsWith("s") && !/(ss|us|is|news)$/.test(word)) return word.slice(0, -1);
  return word;
}

/** True for a word whose ending shows a plural. */
export const isPlural = (word: string) => stem(word.toLowerCase()) !== word.toLowerCase();

/** Words of a text in lower case, at most `max`. */
export function wordsOf(text: string, max: number): string[] {
  return (
    text
      .slice(0, max * 40)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  ).slice(0, max);
}

/** True for words with the same root, such as "summary" and "summarize", "reminder" and "remind". */
export function sharesRoot(left: string, right: string): boolean {
  let length = 0;
  while (length < left.length && left[length] === right[length]) length += 1;
  return length >= 5 && length >= Math.min(left.length, right.length) - 2;
}

/**
 * English verbs that the rules know. Verbs of a catalogue are not listed here: they come from the names of
 * its tools.
 */
const words = (text: string): readonly string[] => text.split(" ");

/**
 * Verbs that mean the same kind of tool, the most general first. A verb may be in several groups; the
 * available tools decide which one is meant.
 */
const VERB_GROUPS: readonly (readonly string[])[] = [
  words(
    "create add make new write post insert register publish open draft submit build compose start put upload save record log raise file leave schedule plan book arrange reserve organize set place generate",
  ),
  words(
    "get show fetch read find retrieve view display check see tell load look lookup give inspect describe",
  ),
  words("list show get find fetch display enumerate view see give"),
  words("search find look lookup query seek"),
  words("update change edit modify set rename revise adjust correct mark amend patch alter"),
  words("delete remove drop erase destroy discard trash"),
  words("send mail email message text deliver dispatch post"),
  words("order buy purchase place create"),
  words("cancel abort revoke"),
  words("close resolve finish complete"),
  words("move transfer relocate rename"),
  words("copy duplicate clone"),
  words("summarize summarise condense"),
  words("calculate compute"),
  words("schedule plan book arrange reserve organize organise"),
  words("start run launch begin trigger"),
  words("stop halt end"),
];

/** Words that are more often nouns than verbs in the names of tools, unless they come first. */
const WEAK_VERBS = new Set(
  words(
    "post comment email mail message text order book list file note log record plan schedule draft query view place new text search run end",
  ),
);

const KNOWN_VERBS = new Set(VERB_GROUPS.flat());

/** True for a verb of the groups. */
export const isKnownVerb = (word: string) => KNOWN_VERBS.has(word);
/** True for a word that is a verb in a tool's name only when the name has no better verb. */
export const isWeakVerb = (word: string) => WEAK_VERBS.has(word);

/**
 * How well a verb of the sentence fits a verb of a tool: 1 for the same verb, 0.8 when one of them is the
 * most general verb of their group, 0.6 for the same group, otherwise 0.
 */
export function verbFit(said: string, offered: string): number {
  if (said === offered) return 1;
  let best = 0;
  for (const group of VERB_GROUPS) {
    if (!group.includes(said) || !group.includes(offered)) continue;
    best = Math.max(best, group[0] === said || group[0] === offered ? 0.8 : 0.6);
  }
  return best;
}

/** True when the verb creates something that does not exist yet. */
export const isMakingVerb = (verb: string) => verbFit(verb, "create") >= 0.8 || verbFit(verb, "send") >= 0.8;
/** "search for files": the preposition belongs to the verb. */
export const takesFor = (verb: string) => ["search", "look", "ask", "seek", "query"].includes(verb);
/** True when the verb requests many things. */
export const isListingVerb = (verb: string) => ["list", "search", "enumerate", "query"].includes(verb);
/** True when the verb only requests information; then a noun alone is enough ("weather for Oslo"). */
export const isReadingVerb = (verb: string) =>
  verbFit("get", verb) > 0 || verbFit("list", verb) > 0 || verbFit("search", verb) > 0;

/**
 * For each preposition, words in the name of the parameter that takes the value after it, the most likely
 * first. They are words for relations (a place, a source, an actor), not for things of a domain.
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
