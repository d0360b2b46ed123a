const words = (text: string): readonly string[] => text.split(" ");

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
export const LINK_ENDINGS = new Set(words("id ids uuid number key slug"));
