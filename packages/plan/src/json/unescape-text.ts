const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ["b", "\b"],
  ["f", "\f"],
]);

/** Removes one level of JSON escapes; a backslash before any other character is removed. */
export function unescapeText(raw: string): string {
  return raw.replace(
    /\\(?:u([0-9a-fA-F]{4})|([\s\S]))/g,
    (_, hex: string | undefined, plain: string | undefined) =>
      hex === undefined
        ? (ESCAPES.get(plain ?? "") ?? plain ?? "")
        : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
