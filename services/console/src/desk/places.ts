import type { SyntaxNode, Tree } from "@lezer/common";

/** A range of characters in a text. */
export interface TextRange {
  from: number;
  to: number;
}

const PART = /\.?([^.[\]]+)|\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]/gu;

/** Parses the path of a diagnostic: `steps[2].arguments["a key"]`. */
export function pathOf(path: string): JsonPath {
  return [...path.matchAll(PART)].map(([, name, index, quoted]) => {
    if (index !== undefined) return Number(index);
    return name ?? quoted?.replaceAll(/\\(.)/gu, "$1") ?? "";
  });
}

/** The range of the value at a path, or at the existing part of the path. */
export function rangeOf(tree: Tree, text: string, path: JsonPath): TextRange {
  let node = valueIn(tree.topNode);
  for (const part of path) {
    const child = node && childOf(node, text, part);
    if (!child) break;
    node = child;
  }
  return node ? { from: node.from, to: node.to } : { from: 0, to: 0 };
}

/** The step that the cursor is in; null outside of the steps, and in a step without an id. */
export function stepAt(tree: Tree, text: string, position: number): string | null {
  const steps = stepNodes(tree, text);
  const step = steps.find(({ from, to }) => from <= position && position <= to);
  return step ? idOf(step, text) : null;
}

/** The range of a step; null when no step has this id. */
export function rangeOfStep(tree: Tree, text: string, stepId: string): TextRange | null {
  const step = stepNodes(tree, text).find((node) => idOf(node, text) === stepId);
  return step ? { from: step.from, to: step.to } : null;
}

function stepNodes(tree: Tree, text: string): SyntaxNode[] {
  const root = valueIn(tree.topNode);
  const steps = root && childOf(root, text, "steps");
  return steps ? valuesOf(steps) : [];
}

function idOf(step: SyntaxNode, text: string): string | null {
  const id = childOf(step, text, "id");
  return id?.name === "String" ? stringOf(text.slice(id.from, id.to)) : null;
}

const VALUES: ReadonlySet<string> = new Set(["Object", "Array", "String", "Number", "True", "False", "Null"]);

function valuesOf(node: SyntaxNode): SyntaxNode[] {
  const values: SyntaxNode[] = [];
  for (let child = node.firstChild; child; child = child.nextSibling)
    if (VALUES.has(child.name)) values.push(child);
  return values;
}

function valueIn(node: SyntaxNode): SyntaxNode | null {
  return valuesOf(node)[0] ?? null;
}

function childOf(node: SyntaxNode, text: string, part: string | number): SyntaxNode | null {
  if (typeof part === "number") return node.name === "Array" ? (valuesOf(node)[part] ?? null) : null;
  for (const property of node.getChildren("Property")) {
    const name = property.getChild("PropertyName");
    if (name && stringOf(text.slice(name.from, name.to)) === part) return valueIn(property);
  }
  return null;
}

function stringOf(json: string): string {
  try {
    return String(JSON.parse(json));
  } catch {
    return json;
  }
}

/** The value of a text that may be incomplete: unreadable parts are left out. */
export function documentOf(tree: Tree, text: string): unknown {
  const root = valueIn(tree.topNode);
  return root ? readValue(root, text) : null;
}

function readValue(node: SyntaxNode, text: string): unknown {
  if (node.name === "Array") return valuesOf(node).map((value) => readValue(value, text));
  if (node.name === "Object")
    return Object.fromEntries(
      node.getChildren("Property").flatMap((property) => {
        const name = property.getChild("PropertyName");
        const value = valueIn(property);
        return name && value ? [[stringOf(text.slice(name.from, name.to)), readValue(value, text)]] : [];
      }),
    );
  const json = text.slice(node.from, node.to);
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}

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

/** Codes whose suggestion replaces a text as it is. */
const REPLACED: ReadonlySet<string> = new Set(["TOOL_UNKNOWN", "TOOL_AMBIGUOUS", "ARGUMENT_VALUE"]);
/** Codes whose suggestion is the right name of the argument. */
const RENAMED: ReadonlySet<string> = new Set(["ARGUMENT_UNKNOWN", "ARGUMENT_UNDECLARED"]);

/** A change of the text. */
export interface Correction extends TextRange {
  insert: string;
}

/**
 * The change that writes the suggestion of a diagnostic: another text in the place of one, or another name of an
 * argument. Null for a suggestion that is advice, and where the text has changed since. Pure.
 */
export function correctionOf(
  tree: Tree,
  text: string,
  { code, path, suggestion }: { code: string; path: string | null; suggestion: string | null },
): Correction | null {
  if (path === null || suggestion === null) return null;
  const parts = pathOf(path);
  let node = valueIn(tree.topNode);
  for (const part of parts) {
    node = node && childOf(node, text, part);
    if (!node) return null;
  }
  if (!node) return null;
  const insert = JSON.stringify(suggestion);
  if (RENAMED.has(code)) {
    const name = node.parent?.name === "Property" ? node.parent.getChild("PropertyName") : null;
    return name && { from: name.from, to: name.to, insert };
  }
  if (node.name !== "String") return null;
  const isReference = suggestion.startsWith("<<") && suggestion.endsWith(">>");
  const isWhole = /^"<<[^<>]*>>"$/u.test(text.slice(node.from, node.to));
  if (!REPLACED.has(code) && !(isReference && isWhole)) return null;
  return { from: node.from, to: node.to, insert };
}
