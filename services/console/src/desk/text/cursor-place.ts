/** A path into a JSON document: names of an object, and positions of a list. */
export type JsonPath = readonly (string | number)[];

/** The place of the cursor in a JSON text that may be incomplete. */
export interface CursorPlace {
  /** The path of the value at the cursor; for a key, of the object that has the key. */
  path: JsonPath;
  kind: "key" | "value";
  /** The text that a completion replaces, quotes included. */
  from: number;
  to: number;
  /** The text of the token before the cursor, without a quote. */
  typed: string;
}

/** An object or a list that is open at the cursor. */
interface Frame {
  isList: boolean;
  /** The position in a list, or the last key of an object. */
  at: string | number;
  isKeyNext: boolean;
}

const STRING = /"(?:[^"\\]|\\.)*"?/suy;
const WORD = /[^\s"{}[\],:]+/uy;

/** The rest of a string after the cursor, including its closing quote. */
const REST_OF_STRING = /^[^"\\\n,:{}]*"/u;

/**
 * Finds the place of the cursor from the text before it: the text after it may be invalid while a user types.
 * @returns null after a complete value, where nothing can be completed
 */
export function cursorPlace(text: string, position: number): CursorPlace | null {
  const before = text.slice(0, position);
  const frames: Frame[] = [];
  let isValueDone = false;
  let index = 0;
  while (index < before.length) {
    const token = tokenAt(before, index);
    const end = index + token.length;
    const isOpen = end === before.length && isUnfinished(token);
    if (isOpen) return placeOf(frames, isValueDone, { from: index, position, text, token });
    isValueDone = read(frames, token, isValueDone);
    index = end;
  }
  return placeOf(frames, isValueDone, { from: position, position, text, token: "" });
}

function tokenAt(text: string, index: number): string {
  for (const pattern of [STRING, WORD]) {
    pattern.lastIndex = index;
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) return found;
  }
  return text[index] ?? "";
}

/** True for a string without its closing quote and for a word: the user may type more of it. */
function isUnfinished(token: string): boolean {
  if (!token.startsWith('"')) return /^[^\s"{}[\],:]/u.test(token);
  return !/^"(?:[^"\\]|\\.)*"$/su.test(token);
}

/** Updates the open frames by one token. @returns true when a value is complete before the next token */
function read(frames: Frame[], token: string, isValueDone: boolean): boolean {
  const top = frames.at(-1);
  if (token.trim() === "") return isValueDone;
  if (token === "{" || token === "[") {
    frames.push({ isList: token === "[", at: token === "[" ? 0 : "", isKeyNext: token === "{" });
    return false;
  }
  if (token === "}" || token === "]") {
    frames.pop();
    return true;
  }
  if (token === ",") {
    if (top?.isList) top.at = Number(top.at) + 1;
    if (top && !top.isList) top.isKeyNext = true;
    return false;
  }
  if (token === ":") return false;
  if (top?.isKeyNext) {
    top.at = textOf(token);
    top.isKeyNext = false;
  }
  return true;
}

function placeOf(
  frames: readonly Frame[],
  isValueDone: boolean,
  { from, position, text, token }: { from: number; position: number; text: string; token: string },
): CursorPlace | null {
  if (isValueDone) return null;
  const top = frames.at(-1);
  const isKey = top?.isKeyNext === true;
  const path = frames.map(({ at }) => at);
  const rest = token.startsWith('"') ? (REST_OF_STRING.exec(text.slice(position))?.[0].length ?? 0) : 0;
  return {
    path: isKey ? path.slice(0, -1) : path,
    kind: isKey ? "key" : "value",
    from,
    to: position + rest,
    typed: token.startsWith('"') ? token.slice(1) : token,
  };
}

function textOf(token: string): string {
  try {
    const value: unknown = JSON.parse(token);
    return typeof value === "string" ? value : token;
  } catch {
    return token;
  }
}
