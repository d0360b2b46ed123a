import { unmarkNumbers } from "@planwright/plan";

/**
 * Invisible characters, which can carry hidden instructions: controls, zero-width characters, direction
 * marks, tags, variation selectors, fillers, private use.
 */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu;

/**
 * Untrusted text for a prompt: without control and invisible characters, with single spaces, at most `max`
 * characters.
 */
export function cleanText(text: string, max: number): string {
  const clean = text
    .slice(0, max * 4)
    // U+FEFF counts as white space but is invisible.
    .replace(/[^\S\ufeff]/g, " ")
    .replace(INVISIBLE, "")
    .replace(/ {2,}/g, " ")
    .trim();
  return clean.length <= max ? clean : `${clean.slice(0, max - 1).replace(/\p{Cs}$/u, "")}…`;
}

/** JSON text with exact numbers and without `<`, so that no value can end the block that contains it. */
export function dataText(value: unknown): string {
  return unmarkNumbers(JSON.stringify(value)).replaceAll("<", "\\u003c");
}
