/**
 * Expands macros of a data file, for values that would be too long or are not valid JSON. In any text:
 *
 * - `[[repeat 3 ab%d]]` is the text 3 times, `%d` is its number from 0;
 * - `[[id NAME]]` is an id that the test created, for example an id of another tenant.
 *
 * As a complete JSON string:
 *
 * - `"[[deep 3]]"` is `[[[]]]`, and `"[[deep-object 3]]"` is 3 nested objects;
 * - `"[[raw 1e400]]"` is the text inside, which JSON.stringify would not write.
 *
 * @param json - JSON text of a data file, or of a part of it
 */
export function expandMacros(json: string, ids: Readonly<Record<string, string>> = {}): string {
  return json
    .replaceAll(/"\[\[deep (\d+)\]\]"/g, (_, depth: string) => "[".repeat(+depth) + "]".repeat(+depth))
    .replaceAll(
      /"\[\[deep-object (\d+)\]\]"/g,
      (_, depth: string) => `${'{"a":'.repeat(+depth)}1${"}".repeat(+depth)}`,
    )
    .replaceAll(/"\[\[raw (.*?)\]\]"/g, (_, raw: string) => raw)
    .replaceAll(/\[\[id ([\w-]+)\]\]/g, (_, name: string) => ids[name] ?? missing(name))
    .replaceAll(/\[\[repeat (\d+) (.*?)\]\]/gs, (_, count: string, text: string) =>
      text.includes("%d") ? numbered(text, +count) : text.repeat(+count),
    );
}

function numbered(text: string, count: number): string {
  return Array.from({ length: count }, (_each, index) => text.replaceAll("%d", String(index))).join("");
}

function missing(name: string): never {
  throw new TypeError(`No id is named ${name}`);
}
