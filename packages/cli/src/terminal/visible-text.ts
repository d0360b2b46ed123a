import { stripVTControlCharacters } from "node:util";
import { unmarkNumbers } from "@planwright/plan";

/**
 * Characters that control a terminal or make text look different from what it is: control characters except
 * newline and tab, format characters (direction overrides, zero width), line separators, lone surrogates.
 */
const NOT_VISIBLE = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
/** Shows where a character was removed. */
const REPLACEMENT = "\u{fffd}";

/**
 * Makes untrusted text safe for a terminal: colours and cursor moves are removed, any other such character is
 * replaced by a mark.
 */
export function visibleText(text: string): string {
  return stripVTControlCharacters(text).replace(NOT_VISIBLE, REPLACEMENT);
}

/**
 * Untrusted text on one line of at most `maxLength` characters (default 300), so that it cannot forge a line
 * of the program.
 */
export function oneLine(text: string, maxLength = 300): string {
  const line = visibleText(text.slice(0, 4 * maxLength))
    .replace(/\s+/gu, " ")
    .trim();
  return line.length > maxLength || text.length > 4 * maxLength ? `${line.slice(0, maxLength)} …` : line;
}

/**
 * JSON text of exactly this value that is safe for a terminal: characters that would control it are escapes.
 */
export function printableJson(value: unknown, indent?: number): string {
  const text = unmarkNumbers(JSON.stringify(value, null, indent) ?? "null");
  return text.replace(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (found) =>
    [...Array(found.length).keys()]
      .map((index) => `\\u${found.charCodeAt(index).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

/** Our own colours; no other sequence that begins with an escape. */
const ESCAPE = String.fromCharCode(27);
const COLOUR = new RegExp(`(${ESCAPE}\\[\\d{1,3}m)`);

/**
 * Makes a line safe to print whatever it contains: colours are kept, and it stays one line. This is the last
 * check; untrusted text has passed through {@link oneLine} or {@link printableJson} before.
 */
export function safeLine(line: string): string {
  return line
    .split(COLOUR)
    .map((part, index) => (index % 2 === 1 ? part : visibleText(part).replace(/\n/g, " ")))
    .join("");
}
