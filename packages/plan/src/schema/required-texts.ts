import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import { toSegment } from "./fit-texts.ts";
import { type SchemaAtPath, schemaAtPath, typesOfSchemas } from "./schema-paths.ts";

/** A text that a call must have. */
export interface RequiredText {
  readonly text: string;
  /** From the arguments to it. */
  readonly keys: readonly (string | number)[];
  /** Name of the parameter or field that it stands under. */
  readonly name: string;
  /** What the schema says of it. */
  readonly schemas: readonly JsonValue[];
}

/** Values that are looked at in one call. */
const MAX_VALUES = 2_000;

/**
 * The texts of a call's arguments that the tool requires: those of required parameters, of required fields of
 * required objects, and of the items of required lists. What the schema leaves open is not required, and
 * where it lists the values that it takes there is nothing to find.
 */
export function requiredTexts(schema: JsonObject, args: JsonObject): RequiredText[] {
  const found: RequiredText[] = [];
  const pending: { value: JsonValue; keys: readonly (string | number)[]; name: string }[] = [
    { value: args, keys: [], name: "" },
  ];
  for (let count = 0; count < MAX_VALUES; count++) {
    const next = pending.pop();
    if (!next) break;
    const { value, keys, name } = next;
    if (typeof value === "string") {
      const schemas = schemasOf(schemaAtPath(schema, keys.map(toSegment)));
      if (takesAnyText(schemas)) found.push({ text: value, keys, name, schemas });
    } else if (Array.isArray(value)) {
      const items = value.slice(0, MAX_VALUES);
      pending.push(
        ...items.map((item, index) => ({ value: item, keys: [...keys, index], name })).toReversed(),
      );
    } else if (isJsonObject(value)) {
      const required = requiredNames(schemasOf(schemaAtPath(schema, keys.map(toSegment))));
      const fields = required.flatMap((field) =>
        Object.hasOwn(value, field)
          ? [{ value: value[field] ?? null, keys: [...keys, field], name: field }]
          : [],
      );
      pending.push(...fields.toReversed());
    }
  }
  return found;
}

/**
 * True for a value that the schema of its place lists, see {@link isListed}. @param schema - of the arguments
 */
export function isListedAt(text: string, keys: readonly (string | number)[], schema: JsonObject): boolean {
  return isListed(text, schemasOf(schemaAtPath(schema, keys.map(toSegment))));
}

/**
 * True for a value that a schema lists: as `enum`, `const` or `default`, or the empty text by `minLength: 0`.
 */
export function isListed(text: string, schemas: readonly JsonValue[]): boolean {
  return schemas.some((schema) => {
    if (!isJsonObject(schema)) return false;
    const { enum: values, const: only, default: usual, minLength } = schema;
    const isOne = Array.isArray(values) && values.includes(text);
    return isOne || only === text || usual === text || (text === "" && minLength === 0);
  });
}

function schemasOf(found: SchemaAtPath): readonly JsonValue[] {
  return found.type === "known" ? found.schemas : [];
}

/** False where the value is refused by its type, or by a list of values, whatever it says. */
function takesAnyText(schemas: readonly JsonValue[]): boolean {
  const types = typesOfSchemas(schemas);
  if (types && !types.has("string")) return false;
  const isClosed = (schema: JsonValue) =>
    isJsonObject(schema) && (Object.hasOwn(schema, "enum") || Object.hasOwn(schema, "const"));
  return schemas.length === 0 || !schemas.every(isClosed);
}

/** Fields that every one of the schemas requires. */
function requiredNames(schemas: readonly JsonValue[]): string[] {
  const [first, ...others] = schemas.map((schema) => {
    const required = isJsonObject(schema) ? schema["required"] : undefined;
    return Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
  });
  return (first ?? []).filter((name) => others.every((names) => names.includes(name)));
}
