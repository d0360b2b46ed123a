import { stripVTControlCharacters } from "node:util";

/** Texts that differ from run to run, and the words that replace them for the comparison. */
const VARYING: readonly [form: RegExp, word: string][] = [
  [/\b(req|plan)_\d{10}_[a-z0-9]{20}\b/g, "$1_…"],
  [/\b(req|plan)_…/g, "$1_ID"],
  [/\b[0-9a-f]{24}\b/g, "OBJECT-ID"],
  [/-\d{3,10}@/g, "-NUMBER@"],
  [/\b\d+(\.\d+)? (ms|s)\b/g, "DURATION"],
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME"],
];

/**
 * The lines of a shown output that a real output does not have in this order; none when the README is
 * correct. Ids, durations, times and numbers of e-mail addresses may differ, the real output may have more
 * lines, and `…` before the end of a shown line matches anything.
 */
export function linesNotPrinted(shown: string, printed: string): string[] {
  const lines = printed.split("\n").map(normalised);
  let from = 0;
  return shown.split("\n").filter((line) => {
    const [beginning = "", end] = normalised(line).split(/…(?=[^…]*$)/);
    const at = lines.findIndex(
      (each, index) =>
        index >= from &&
        (end === undefined ? each === beginning : each.startsWith(beginning) && each.endsWith(end)),
    );
    if (at >= 0) from = at + 1;
    return at < 0;
  });
}

function normalised(line: string): string {
  return VARYING.reduce(
    (text, [form, word]) => text.replaceAll(form, word),
    stripVTControlCharacters(line),
  ).trimEnd();
}
