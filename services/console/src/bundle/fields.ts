import { isJsonObject, type JsonObject, type JsonValue } from "@planwright/plan";

/**
 * Reads the fields of a record from a file: another version of the service may have written it, so any may be
 * missing.
 */
export interface Fields {
  /** The record itself. */
  record: JsonObject;
  text: (name: string) => string | null;
  number: (name: string) => number | null;
  isTrue: (name: string) => boolean;
  value: (name: string) => JsonValue;
  /** Null for what is no object. */
  object: (name: string) => Fields | null;
  /** The objects of a list; none for what is no list. */
  list: (name: string) => Fields[];
  /** The texts of a list. */
  texts: (name: string) => string[];
}

/** The fields of a value; an empty record for what is no object. */
export function fieldsOf(value: unknown): Fields {
  const record = isJsonObject(value) ? value : {};
  const own = (name: string): JsonValue => (Object.hasOwn(record, name) ? (record[name] ?? null) : null);
  const entries = (name: string): readonly JsonValue[] => {
    const found = own(name);
    return Array.isArray(found) ? found : [];
  };
  return {
    record,
    text(name) {
      const found = own(name);
      return typeof found === "string" ? found : null;
    },
    number(name) {
      const found = own(name);
      return typeof found === "number" ? found : null;
    },
    isTrue: (name) => own(name) === true,
    value: own,
    object(name) {
      const found = own(name);
      return isJsonObject(found) ? fieldsOf(found) : null;
    },
    list: (name) => entries(name).filter(isJsonObject).map(fieldsOf),
    texts: (name) => entries(name).filter((entry) => typeof entry === "string"),
  };
}
