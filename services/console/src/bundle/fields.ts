import { isJsonObject, type JsonObject, type JsonValue } from "@planwright/plan";

/**
 * Reads the fields of a record from a file. Another version of the service may have written the file, so any
 * field may be missing.
 */
export interface Fields {
  /** The record itself. */
  record: JsonObject;
  text: (name: string) => string | null;
  number: (name: string) => number | null;
  isTrue: (name: string) => boolean;
  value: (name: string) => JsonValue;
  /** Null if the value is not an object. */
  object: (name: string) => Fields | null;
  /** The objects of a list; empty if the value is not a list. */
  list: (name: string) => Fields[];
  /** The texts of a list. */
  texts: (name: string) => string[];
}

/** The fields of a value; an empty record if it is not an object. */
export function fieldsOf(value: unknown): Fields {
  const record = isJsonObject(value) ? value : {};
  const valueOf = (name: string): JsonValue => (Object.hasOwn(record, name) ? (record[name] ?? null) : null);
  const entries = (name: string): readonly JsonValue[] => {
    const found = valueOf(name);
    return Array.isArray(found) ? found : [];
  };
  return {
    record,
    text(name) {
      const found = valueOf(name);
      return typeof found === "string" ? found : null;
    },
    number(name) {
      const found = valueOf(name);
      return typeof found === "number" ? found : null;
    },
    isTrue: (name) => valueOf(name) === true,
    value: valueOf,
    object(name) {
      const found = valueOf(name);
      return isJsonObject(found) ? fieldsOf(found) : null;
    },
    list: (name) => entries(name).filter(isJsonObject).map(fieldsOf),
    texts: (name) => entries(name).filter((entry) => typeof entry === "string"),
  };
}
