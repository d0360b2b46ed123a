import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import { toSegment } from "./fit-texts.ts";
import { type SchemaAtPath, schemaAtPath, typesOfSchemas } from "./schema-paths.ts";

/** A text in the arguments of a call. */
export interface ArgumentText {
  readonly text: string;
  /** The call requires it. */
  readonly isRequired: boolean;
  /** Path from the arguments to the text. */
  readonly keys: readonly (string | number)[];
  /** Name of its parameter or field. */
  readonly name: string;
  /** The schemas of the text. */
  readonly schemas: readonly JsonValue[];
}

/** Maximum number of values that are read in one call. */
const MAX_VALUES = 2_000;

/**
 * The texts in a call's arguments that any value may replace: those that it requires (required parameters, required
 * fields of required objects, and items of required lists), and with `optional` the other ones that the schema
 * declares. Texts whose schema lists the accepted values need no check.
 */
export function argumentTexts(
  schema: JsonObject,
  args: JsonObject,
  { optional }: { optional: boolean },
): ArgumentText[] {
  const found: ArgumentText[] = [];
  const pending: { value: JsonValue; keys: ArgumentText["keys"]; name: string; isRequired: boolean }[] = [
    { value: args, keys: [], name: "", isRequired: true },
  ];
  for (let count = 0; count < MAX_VALUES; count++) {
    const next = pending.pop();
    if (!next) break;
    const { value, keys, name, isRequired } = next;
    if (typeof value === "string") {
      const schemas = schemasOf(schemaAtPath(schema, keys.map(toSegment)));
      const isDeclared = isRequired || schemas.length > 0;
      if (isDeclared && takesAnyText(schemas)) found.push({ text: value, isRequired, keys, name, schemas });
    } else if (Array.isArray(value)) {
      const items = value
        .slice(0, MAX_VALUES)
        .map((item, index) => ({ ...next, value: item, keys: [...keys, index] }));
      pending.push(...items.toReversed());
    } else if (isJsonObject(value)) {
      const required = requiredNames(schemasOf(schemaAtPath(schema, keys.map(toSegment))));
      const names = optional
        ? [...required, ...Object.keys(value).filter((field) => !required.includes(field))]
        : required;
      const fields = names.flatMap((field, index) =>
        Object.hasOwn(value, field)
          ? [
              {
                value: value[field] ?? null,
                keys: [...keys, field],
                name: field,
                isRequired: isRequired && index < required.length,
              },
            ]
          : [],
      );
      pending.push(...fields.toReversed());
    }
  }
  return found;
}

/**
 * True for a value that the schema at its path lists, see {@link isListed}.
 * @param schema - of the arguments
 */
export function isListedAt(text: string, keys: readonly (string | number)[], schema: JsonObject): boolean {
  return isListed(text, schemasOf(schemaAtPath(schema, keys.map(toSegment))));
}

/**
 * True for a value that a schema lists: in `enum`, `const` or `default`, or the empty text by `minLength: 0`.
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

/** False when the schemas restrict the value by another type or a list of values. */
function takesAnyText(schemas: readonly JsonValue[]): boolean {
  const types = typesOfSchemas(schemas);
  if (types && !types.has("string")) return false;
  const isClosed = (schema: JsonValue) =>
    isJsonObject(schema) && (Object.hasOwn(schema, "enum") || Object.hasOwn(schema, "const"));
  return schemas.length === 0 || !schemas.every(isClosed);
}

/** Fields that all of the schemas require. */
function requiredNames(schemas: readonly JsonValue[]): string[] {
  const [first, ...others] = schemas.map((schema) => {
    const required = isJsonObject(schema) ? schema["required"] : undefined;
    return Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
  });
  return (first ?? []).filter((name) => others.every((names) => names.includes(name)));
}
