import { draftSteps, isObject, type JsonRecord, toolOf } from "./draft-steps.ts";
import { type CursorPlace, cursorPlace, type JsonPath } from "./places.ts";

/** The fields of a tool that completions use. */
export interface KnownTool {
  name: string;
  description: string;
  inputSchema: unknown;
  /** JSON Schema of its output, declared or observed; null when unknown. */
  outputSchema: unknown;
}

/** One completion. */
export interface Choice {
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
export interface Completions extends Pick<CursorPlace, "from" | "to"> {
  choices: Choice[];
}

/** The sources of completions. */
export interface CompletionSources {
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
