const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ["b", "\b"],
  ["f", "\f"],
]);

/** Takes one level of escapes away, as JSON has them; a backslash before anything else just goes. */
export function unescapeText(raw: string): string {
  return raw.replace(
    /\\(?:u([0-9a-fA-F]{4})|([\s\S]))/g,
    (_, hex: string | undefined, plain: string | undefined) =>
      hex === undefined
        ? (ESCAPES.get(plain ?? "") ?? plain ?? "")
        : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
