const words = (text: string): readonly string[] => text.split(" ");

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
