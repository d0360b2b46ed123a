/** True when a name or a value below holds the text, ignoring case. An empty text is in everything. */
export function holdsText(value: unknown, text: string): boolean {
  if (text === "") return true;
  const wanted = text.toLowerCase();
  // A stack instead of recursion: a tool may answer with very deep values.
  const left: unknown[] = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next === "object" && next !== null) {
      for (const [name, inner] of Object.entries(next)) {
        if (!Array.isArray(next) && name.toLowerCase().includes(wanted)) return true;
        left.push(inner);
      }
    } else if (String(next).toLowerCase().includes(wanted)) return true;
  }
  return false;
}

/** A text in pieces, each either what was searched for or not. */
export function marked(text: string, searched: string): { text: string; isFound: boolean }[] {
  if (searched === "") return [{ text, isFound: false }];
  const lower = text.toLowerCase();
  const wanted = searched.toLowerCase();
  // Where lower case has another length than the text, places would be wrong: then nothing is marked.
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
