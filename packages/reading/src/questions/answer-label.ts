/** Labels are searched only in this number of characters at the beginning of an answer. */
const MAX_LABEL = 80;

/**
 * The names that an answer may put before its value: the argument's, also together with the enclosing field
 * ("author email" for `author.email`).
 */
export function labelsOf(keys: readonly (string | number)[]): string[] {
  const names = keys.filter((key) => typeof key === "string");
  const own = names.at(-1);
  return own === undefined ? [] : [...new Set([own, names.join(" "), names.join(".")].map(plain))];
}

/** The normal form of a name: "authorId", "author_id" and "Author ID" are equal. */
function plain(name: string): string {
  return name.replaceAll(/[^\p{L}\p{N}]+/gu, "").toLowerCase();
}

/**
 * The label at the beginning of an answer, in normal form, and the text after it; null without a label.
 * "email: x", "email = x".
 */
export function labelIn(text: string): { label: string; rest: string } | null {
  const found = /^([\p{L}][\p{L}\p{N} _.-]*?)\s*[:=]\s*(?=\S)/u.exec(text.slice(0, MAX_LABEL));
  if (!found?.[1] || text.startsWith("//", found[0].length)) return null;
  return { label: plain(found[1]), rest: text.slice(found[0].length).trim() };
}

/** The text after a label that is one of these names; otherwise the complete text. */
export function withoutLabel(text: string, labels: readonly string[]): string {
  const found = labelIn(text);
  return found && labels.includes(found.label) ? found.rest : text;
}
