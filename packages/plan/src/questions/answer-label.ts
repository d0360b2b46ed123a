/** Labels are looked for in the first characters of an answer only. */
const MAX_LABEL = 80;

/**
 * The names that an answer may put before its value: of the argument, and of what it stands in ("author
 * email" for `author.email`).
 */
export function labelsOf(keys: readonly (string | number)[]): string[] {
  const names = keys.filter((key) => typeof key === "string");
  const own = names.at(-1);
  return own === undefined ? [] : [...new Set([own, names.join(" "), names.join(".")].map(plain))];
}

/** "authorId", "author_id" and "Author ID" are one name. */
function plain(name: string): string {
  return name.replaceAll(/[^\p{L}\p{N}]+/gu, "").toLowerCase();
}

/**
 * The label that an answer begins with, in plain form, and the text behind it; null without one. "email: x",
 * "email = x".
 */
export function labelIn(text: string): { label: string; rest: string } | null {
  const found = /^([\p{L}][\p{L}\p{N} _.-]*?)\s*[:=]\s*(?=\S)/u.exec(text.slice(0, MAX_LABEL));
  if (!found?.[1] || text.startsWith("//", found[0].length)) return null;
  return { label: plain(found[1]), rest: text.slice(found[0].length).trim() };
}

/** The text behind a label that is one of these names; the whole text otherwise. */
export function withoutLabel(text: string, labels: readonly string[]): string {
  const found = labelIn(text);
  return found && labels.includes(found.label) ? found.rest : text;
}
