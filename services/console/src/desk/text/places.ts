import type { SyntaxNode, Tree } from "@lezer/common";
import type { JsonPath } from "./cursor-place.ts";

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
