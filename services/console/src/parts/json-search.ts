/** True when a name or value contains the text, ignoring case. Every value contains the empty text. */
export function holdsText(value: unknown, text: string): boolean {
  if (text === "") return true;
  const wanted = text.toLowerCase();
  // A stack instead of recursion: the output of a tool may be nested very deep.
  const stack: unknown[] = [value];
  while (stack.length > 0) {
    const next = stack.pop();
    if (typeof next === "object" && next !== null) {
      for (const [name, inner] of Object.entries(next)) {
        if (!Array.isArray(next) && name.toLowerCase().includes(wanted)) return true;
        stack.push(inner);
      }
    } else if (String(next).toLowerCase().includes(wanted)) return true;
  }
  return false;
}

/** Splits a text into pieces that are or are not the searched text. */
export function marked(text: string, searched: string): { text: string; isFound: boolean }[] {
  if (searched === "") return [{ text, isFound: false }];
  const lower = text.toLowerCase();
  const wanted = searched.toLowerCase();
  // If lower case changes the length of the text, positions would be wrong: then nothing is marked.
  if (lower.length !== text.length) return [{ text, isFound: false }];
  const pieces: { text: string; isFound: boolean }[] = [];
  let end = 0;
  for (let at = lower.indexOf(wanted); at !== -1; at = lower.indexOf(wanted, end)) {
    if (at > end) pieces.push({ text: text.slice(end, at), isFound: false });
    end = at + wanted.length;
    pieces.push({ text: text.slice(at, end), isFound: true });
  }
  if (end < text.length) pieces.push({ text: text.slice(end), isFound: false });
  return pieces;
}
