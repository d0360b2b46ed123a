/**
 * Characters that make a text look different from what it is: control characters except newline and tab, format
 * characters (direction overrides, zero width, tags), line separators, fillers that look like nothing, lone
 * surrogates.
 */
const NOT_VISIBLE =
  /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u{115f}\u{1160}\u{17b4}\u{17b5}\u{3164}\u{ffa0}]/gu;

/** Joiners inside an emoji or between letters belong to how these are written. */
const JOINERS =
  /(?<=[\p{Extended_Pictographic}\u{fe0f}\p{Emoji_Modifier}])\u{200d}(?=\p{Extended_Pictographic})|(?<=\p{L}|\p{M})[\u{200c}\u{200d}](?=\p{L})/u;

/**
 * An untrusted text for people, in which nothing is hidden: a character that cannot be seen or changes the direction
 * of writing is replaced by its code, such as `[U+202E]`. The command line and the console show texts of tools,
 * models and clients so. Pure.
 */
export function visibleText(text: string): string {
  return text.replace(NOT_VISIBLE, (found, at: number) => {
    if (found === "\u{200d}" || found === "\u{200c}") {
      const around = text.slice(Math.max(0, at - 2), at + 3);
      if (JOINERS.test(around)) return found;
    }
    return `[U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}]`;
  });
}
