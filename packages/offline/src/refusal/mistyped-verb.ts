import { knownVerbs, type ToolWords } from "@planwright/models/words";

/** Words with fewer letters differ by one letter from too many other words. */
const MIN_LETTERS = 4;
/** A verb is one of the first words of a clause. */
const FIRST_WORDS = 3;

/**
 * The verb that was probably meant, when one of the first words of a clause has one typing mistake: a letter
 * that is wrong, missing, too many, or swapped with the next one. Verbs of the catalogue are preferred; null
 * when no verb is near.
 */
export function mistypedVerb(clause: string, catalogue: readonly ToolWords[]): string | null {
  const words =
    clause
      .toLowerCase()
      .match(/\p{L}+/gu)
      ?.slice(0, FIRST_WORDS) ?? [];
  const verbs = [...new Set([...catalogue.flatMap((tool) => tool.verbs), ...knownVerbs()])];
  for (const word of words.filter(({ length }) => length >= MIN_LETTERS)) {
    const meant = verbs.find((verb) => verb.length >= MIN_LETTERS && isOneSlip(word, verb));
    if (meant !== undefined) return meant;
  }
  return null;
}

function isOneSlip(word: string, other: string): boolean {
  let start = 0;
  while (start < word.length && word[start] === other[start]) start += 1;
  const [rest, wanted] = [word.slice(start), other.slice(start)];
  if (rest === wanted) return false;
  const isSwapped =
    rest.slice(0, 2) === `${wanted[1] ?? ""}${wanted[0] ?? ""}` && rest.slice(2) === wanted.slice(2);
  return (
    rest.slice(1) === wanted.slice(1) || rest === wanted.slice(1) || rest.slice(1) === wanted || isSwapped
  );
}
