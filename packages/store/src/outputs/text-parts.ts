/**
 * A document of MongoDB has at most 16 MiB. A UTF-16 unit takes at most three bytes of UTF-8, so a part has
 * at most 12 MiB.
 */
const MAX_PART_CHARS = 4_194_304;
const MAX_DOCUMENT_BYTES = 3 * MAX_PART_CHARS;

/**
 * Cuts a text into parts that each fit into one document. A text of up to 12 MiB in UTF-8 is one part. No
 * character is cut.
 */
export function textParts(text: string, sizeBytes: number): string[] {
  if (sizeBytes <= MAX_DOCUMENT_BYTES) return [text];
  const parts: string[] = [];
  for (let start = 0; start < text.length; ) {
    const end = Math.min(text.length, start + MAX_PART_CHARS);
    const isInsideCharacter = end < text.length && isHighSurrogate(text.charCodeAt(end - 1));
    parts.push(text.slice(start, isInsideCharacter ? end - 1 : end));
    start = isInsideCharacter ? end - 1 : end;
  }
  return parts;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
