/**
 * English verbs that the rules know. Verbs of a catalogue are not listed here: they come from the names of
 * its tools.
 */

const words = (text: string) => text.split(" ");

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
