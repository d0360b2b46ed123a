const words = (text: string): readonly string[] => text.split(" ");

/** Names of parameters for the text of a thing, the most likely first. */
export const CONTENT_NAMES = words("content body text message description details comment note notes");
/** Names of parameters for the title of a thing, the most likely first. */
export const TITLE_NAMES = words("title subject headline heading name summary label");
/** Names of parameters for "named" and "called", the most likely first. */
export const NAME_NAMES = words("name title label subject summary filename path");
/** Names of parameters for a search text. */
export const QUERY_NAMES = words("query q keyword search term pattern phrase");
/** Names of parameters for the reason of an action. */
export const REASON_NAMES = words("reason why cause justification purpose");
/** Names of parameters that identify a thing. */
export const IDENTITY_NAMES = words(
  "id number key uuid slug path filename file source src name title url code",
);
/** Endings of names of parameters that refer to another thing. */
export const LINK_ENDINGS = new Set(words("id ids uuid number key slug"));
