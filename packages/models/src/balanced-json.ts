/** A stretch of text that begins with a bracket. */
export interface JsonSpan {
  text: string;
  /** Position behind it. */
  end: number;
  /** False when the text ends before its brackets are closed. */
  isClosed: boolean;
}

/** The first object or array at or behind a position, brackets inside strings not counted; null when none begins. One pass. */
export function balancedJson(text: string, from: number): JsonSpan | null {
  const start = firstBracket(text, from);
  if (start === -1) return null;
  let depth = 0;
  let isInString = false;
  for (let at = start; at < text.length; at++) {
    const char = text.charAt(at);
    if (isInString) {
      if (char === "\\") at += 1;
      else if (char === '"') isInString = false;
    } else if (char === '"') isInString = true;
    else if (char === "{" || char === "[") depth += 1;
    else if (char === "}" || char === "]") {
      depth -= 1;
      if (depth === 0) return { text: text.slice(start, at + 1), end: at + 1, isClosed: true };
    }
  }
  return { text: text.slice(start), end: text.length, isClosed: false };
}

function firstBracket(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === "{" || char === "[") return at;
  }
  return -1;
}
