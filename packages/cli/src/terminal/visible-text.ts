import { stripVTControlCharacters } from "node:util";

/**
 * Everything that a terminal obeys, or that shows text other than it is: control characters but newline and
 * tab, format characters (direction overrides, zero width), line separators, lone surrogates.
 */
const NOT_VISIBLE = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
/** One that was taken out is seen. */
const REPLACEMENT = "\u{fffd}";

/**
 * Text of a stranger that a terminal may print: colours and cursor moves are gone, any other such character
 * is a mark.
 */
export function visibleText(text: string): string {
  return stripVTControlCharacters(text).replace(NOT_VISIBLE, REPLACEMENT);
}

/**
 * On one line, at most `maxLength` characters: a text from outside cannot forge a line of ours. Default 300.
 */
export function oneLine(text: string, maxLength = 300): string {
  const line = visibleText(text.slice(0, 4 * maxLength))
    .replace(/\s+/gu, " ")
    .trim();
  return line.length > maxLength || text.length > 4 * maxLength ? `${line.slice(0, maxLength)} …` : line;
}

/**
 * JSON text of exactly this value that a terminal may print: what it must not obey is written as an escape.
 */
export function printableJson(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent) ?? "null";
  return text.replace(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (found) =>
    [...Array(found.length).keys()]
      .map((index) => `\\u${found.charCodeAt(index).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

/** Our own colours, and nothing else that begins with an escape. */
const ESCAPE = String.fromCharCode(27);
const COLOUR = new RegExp(`(${ESCAPE}\\[\\d{1,3}m)`);

/**
 * A line as it may be printed, whatever slipped into it: its own colours stay, and it stays one line. The
 * last gate; what is not our own has gone through {@link oneLine} or {@link printableJson} before.
 */
export function safeLine(line: string): string {
  return line
    .split(COLOUR)
    .map((part, index) => (index % 2 === 1 ? part : visibleText(part).replace(/\n/g, " ")))
    .join("");
}
