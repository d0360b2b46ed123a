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
