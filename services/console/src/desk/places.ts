/** Places in the text of a plan: the value of a path, the step at the cursor, and what may be written there. */
import type { SyntaxNode, Tree } from "@lezer/common";
import { draftSteps, isObject, type JsonRecord, toolOf } from "./draft-steps.ts";

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
type JsonPath = readonly (string | number)[];

/** The place of the cursor in a JSON text that may be incomplete. */
interface CursorPlace {
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

/** The fields of a tool that completions use. */
export interface KnownTool {
  name: string;
  description: string;
  inputSchema: unknown;
  /** JSON Schema of its output, declared or observed; null when unknown. */
  outputSchema: unknown;
}

/** One completion. */
interface Choice {
  /** The text that is shown and matched. */
  label: string;
  /** The JSON text to insert. */
  apply: string;
  /** A short note: the type, or "required". */
  detail: string;
  info: string;
  /** True for a required key. */
  isRequired: boolean;
}

/** The completions at the cursor. */
interface Completions extends Pick<CursorPlace, "from" | "to"> {
  choices: Choice[];
}

/** The sources of completions. */
interface CompletionSources {
  planSchema: JsonRecord;
  tools: readonly KnownTool[];
  /** The edited plan, as far as it can be read. */
  document: unknown;
}

/** The completions at the cursor of a plan; null when there are none. */
export function completionsAt(
  text: string,
  position: number,
  { planSchema, tools, document }: CompletionSources,
): Completions | null {
  const place = cursorPlace(text, position);
  if (!place) return null;
  const argumentsPath = argumentsPathOf(place.path);
  const tool = argumentsPath && tools.find(({ name }) => name === toolAt(document, argumentsPath));
  const schemas =
    tool && isObject(tool.inputSchema)
      ? schemasAt(tool.inputSchema, place.path.slice(argumentsPath.length))
      : schemasAt(planSchema, place.path);
  const choices =
    place.kind === "key"
      ? keyChoices(schemas, valueAt(document, place.path))
      : [
          ...namedChoices(place.path, tools, document),
          ...schemas.flatMap(valueChoices),
          ...(argumentsPath ? referenceChoices(document, tools, place.path) : []),
        ];
  const unique = [...new Map(choices.map((choice) => [choice.label, choice])).values()];
  return unique.length > 0 ? { from: place.from, to: place.to, choices: unique } : null;
}

/** The path of the arguments that contain a path: `steps[0].arguments`, `steps[0].forEach.do.arguments`. */
function argumentsPathOf(path: JsonPath): JsonPath | null {
  if (path[0] !== "steps") return null;
  if (path[2] === "arguments") return path.slice(0, 3);
  if (path[2] === "forEach" && path[3] === "do" && path[4] === "arguments") return path.slice(0, 5);
  return null;
}

function toolAt(document: unknown, argumentsPath: JsonPath): string {
  return toolOf(valueAt(document, argumentsPath.slice(0, -1)));
}

function valueAt(document: unknown, path: JsonPath): unknown {
  return path.reduce<unknown>((value, part) => {
    if (Array.isArray(value) && typeof part === "number") return value[part];
    return isObject(value) && Object.hasOwn(value, part) ? value[part] : undefined;
  }, document);
}

function keyChoices(schemas: readonly JsonRecord[], present: unknown): Choice[] {
  return schemas.flatMap(({ properties, required }) => {
    if (!isObject(properties)) return [];
    return Object.entries(properties)
      .filter(([name]) => !(isObject(present) && Object.hasOwn(present, name)))
      .map(([name, schema]) => {
        const isRequired = Array.isArray(required) && required.includes(name);
        const type = typeText(schema);
        return {
          label: name,
          apply: `${JSON.stringify(name)}: ${startOf(type)}`,
          detail: isRequired ? `${type} · required` : type,
          info: descriptionOf(schema),
          isRequired,
        };
      });
  });
}

function valueChoices(schema: JsonRecord): Choice[] {
  const values = Array.isArray(schema["enum"])
    ? schema["enum"]
    : "const" in schema
      ? [schema["const"]]
      : schema["type"] === "boolean"
        ? [true, false]
        : [];
  return values.map((value) =>
    choiceOf(JSON.stringify(value), typeof value === "string" ? value : undefined),
  );
}

/** Names of tools or steps, at a path that takes such a name. */
function namedChoices(path: JsonPath, tools: readonly KnownTool[], document: unknown): Choice[] {
  if (path[0] === "outputs" && path.length === 2) return stepChoices(document, null);
  if (path[0] !== "steps") return [];
  if (path.at(-1) === "tool" && (path.length === 3 || path[3] === "do"))
    return tools.map(({ name, description }) => ({
      ...choiceOf(JSON.stringify(name), name),
      detail: "tool",
      info: description,
    }));
  return path[2] === "dependsOn" ? stepChoices(document, path[1]) : [];
}

function stepChoices(document: unknown, ownIndex: string | number | undefined | null): Choice[] {
  const ownId = typeof ownIndex === "number" ? idAt(document, ownIndex) : undefined;
  return draftSteps(document)
    .filter(({ id }) => id !== ownId)
    .map(({ id, tool }) => ({ ...choiceOf(JSON.stringify(id), id), detail: tool }));
}

/** References to outputs of the other steps and to their known fields. */
function referenceChoices(document: unknown, tools: readonly KnownTool[], path: JsonPath): Choice[] {
  const ownId = idAt(document, Number(path[1]));
  return draftSteps(document)
    .filter(({ id }) => id !== ownId)
    .flatMap(({ id, tool, isList }) => {
      const known = tools.find(({ name }) => name === tool)?.outputSchema;
      const fields = isObject(known) && !isList ? schemasAt(known, []).flatMap(propertiesOf) : [];
      return [["", isList ? "list" : "output"] as const, ...fields].map(([name, type]) => {
        const reference = `<<${id}${name}>>`;
        return { ...choiceOf(JSON.stringify(reference), reference), detail: type, info: `Output of ${tool}` };
      });
    });
}

function propertiesOf({ properties }: JsonRecord): (readonly [string, string])[] {
  if (!isObject(properties)) return [];
  return Object.entries(properties).map(([name, schema]) => [
    /^[\w-]+$/u.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`,
    typeText(schema),
  ]);
}

function idAt(document: unknown, index: number): unknown {
  return valueAt(document, ["steps", index, "id"]);
}

function choiceOf(apply: string, label = apply): Choice {
  return { label, apply, detail: "", info: "", isRequired: false };
}

function descriptionOf(schema: unknown): string {
  return isObject(schema) && typeof schema["description"] === "string" ? schema["description"] : "";
}

function typeText(schema: unknown): string {
  if (!isObject(schema)) return "";
  const { type, anyOf, oneOf } = schema;
  if (typeof type === "string") return type;
  if (Array.isArray(type)) return type.join(" or ");
  return Array.isArray(schema["enum"]) ? "one of" : Array.isArray(anyOf ?? oneOf) ? "any of" : "any";
}

/** The empty value of a type; the cursor is then inside it. */
function startOf(type: string): string {
  return { object: "{}", array: "[]", string: '""' }[type] ?? "";
}

/**
 * The schemas of a value at a path: all alternatives of a JSON Schema, with references and unions resolved.
 */
function schemasAt(root: JsonRecord, path: JsonPath): JsonRecord[] {
  let schemas = alternativesOf(root, root);
  for (const part of path) {
    schemas = schemas.flatMap((schema) => {
      const child = typeof part === "number" ? itemOf(schema, part) : propertyOf(schema, part);
      return isObject(child) ? alternativesOf(root, child) : [];
    });
  }
  return schemas;
}

function itemOf(schema: JsonRecord, index: number): unknown {
  const { prefixItems, items } = schema;
  return (Array.isArray(prefixItems) ? prefixItems[index] : undefined) ?? items;
}

function propertyOf(schema: JsonRecord, name: string): unknown {
  const { properties, additionalProperties } = schema;
  if (isObject(properties) && Object.hasOwn(properties, name)) return properties[name];
  return additionalProperties;
}

/** Most levels of references and unions that are followed: a schema may refer to itself. */
const MAX_DEPTH = 8;

function alternativesOf(root: JsonRecord, schema: JsonRecord, depth = 0): JsonRecord[] {
  if (depth > MAX_DEPTH) return [];
  const { $ref, anyOf, oneOf, allOf } = schema;
  const parts = [anyOf, oneOf, allOf].filter(Array.isArray).flat().filter(isObject);
  const referenced = typeof $ref === "string" ? schemaAtPointer(root, $ref) : undefined;
  const inner = referenced ? [...parts, referenced] : parts;
  const found = inner.flatMap((part) => alternativesOf(root, part, depth + 1));
  return "type" in schema || "properties" in schema || "enum" in schema || "const" in schema || !inner.length
    ? [schema, ...found]
    : found;
}

function schemaAtPointer(root: JsonRecord, reference: string): JsonRecord | undefined {
  if (!reference.startsWith("#")) return undefined;
  let value: unknown = root;
  for (const part of reference.slice(1).split("/").filter(Boolean)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return isObject(value) ? value : undefined;
}
