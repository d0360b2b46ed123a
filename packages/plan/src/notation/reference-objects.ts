/** Finds objects that are references in the notations of other planners. */
import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import { setOwn } from "../json/own-property.ts";
import { MAX_INNER } from "./read-inner.ts";

/** An object, or a field of an object, in the form of a reference. */
export interface ReferenceObject {
  /** The text as written in the document. */
  readonly source: string;
  /**
   * Possible targets, as they would be written between signs: `s1.text`, `steps.s1.output.text`; the first
   * that names a step counts.
   */
  readonly inners: readonly string[];
  /** The inner text, which may be a reference in any notation. */
  readonly written: string;
  /** The text contains more than the reference: an error when it names a step. */
  readonly isMore: boolean;
}

/** Returns the text that replaces an object; undefined keeps the object. */
export type ReadReferenceObject = (
  object: ReferenceObject,
  keys: readonly (string | number)[],
) => string | undefined;

type Keys = readonly (string | number)[];

/**
 * A value in which `{"$ref": "s1.text"}` and `{"$ref": "#/steps/s1/output/text"}`, and the fields `"name.$":
 * "$.s1.text"` of state machines, are replaced by the results of `read`. Objects that it keeps are data.
 * Returns the value itself when nothing changes; recursion is as deep as the value.
 */
export function mapReferenceObjects(value: JsonValue, keys: Keys, read: ReadReferenceObject): JsonValue {
  if (Array.isArray(value)) {
    const items = value.map((item, index) => mapReferenceObjects(item, [...keys, index], read));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  if (!isJsonObject(value)) return value;
  const { $ref } = value;
  // `{"$ref": "authors", "$id": "17"}` is a DBRef of MongoDB.
  if (typeof $ref === "string" && !Object.hasOwn(value, "$id")) {
    const found = read(refObject(value, $ref), keys);
    if (found !== undefined) return found;
  }
  const fields = Object.entries(value).map(([name, field]) => mapField(name, field, { value, keys, read }));
  if (fields.every(([name, field]) => field === value[name])) return value;
  const copy: JsonObject = {};
  for (const [name, field] of fields) setOwn(copy, name, field);
  return copy;
}

function mapField(
  name: string,
  field: JsonValue,
  { value, keys, read }: { value: JsonObject; keys: Keys; read: ReadReferenceObject },
): readonly [string, JsonValue] {
  const place = [...keys, name];
  if (typeof field !== "string" || !name.endsWith(PATH_SUFFIX) || name === PATH_SUFFIX)
    return [name, mapReferenceObjects(field, place, read)];
  const plain = name.slice(0, -PATH_SUFFIX.length);
  const source = `${JSON.stringify(name)}: ${JSON.stringify(field)}`;
  const calls = FUNCTION.test(field) ? PATH_IN_CALL.exec(field)?.[0] : undefined;
  const object = {
    source,
    inners: calls === undefined ? innersOf(field) : [calls],
    written: field,
    isMore: calls !== undefined || Object.hasOwn(value, plain),
  };
  const found = read(object, place);
  return found === undefined ? [name, field] : [plain, found];
}

/** Suffix of field names in Amazon States Language whose value is a path. */
const PATH_SUFFIX = ".$";
/** Its functions: `States.Format('{}', $.s1.text)`. */
const FUNCTION = /^States\.[A-Za-z]+\(/;
const PATH_IN_CALL = /\$\.[\p{L}\p{N}_.[\]*-]{1,128}/u;

function refObject(value: JsonObject, written: string): ReferenceObject {
  return {
    source: JSON.stringify(value),
    inners: innersOf(written),
    written,
    isMore: Object.keys(value).length > 1,
  };
}

function innersOf(written: string): string[] {
  return written.includes("/") ? [written, innerOfPointer(written)] : [written];
}

const PLAIN = /^[\p{L}\p{N}_-]+$/u;

/**
 * A JSON Pointer, or a path with slashes: `#/steps/s1/output/a~1b` as `steps.s1.output["a/b"]`, `#/steps/0`
 * as `steps[0]`.
 */
function innerOfPointer(pointer: string): string {
  if (pointer.length > MAX_INNER) return "";
  const [first = "", ...others] = pointer
    .replace(/^#?\//, "")
    .split("/")
    .map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"));
  const path = others.map((segment, index) => {
    if (/^[0-9]+$/.test(segment)) return `[${segment}]`;
    // The first segment may be the name of a step; brackets continue the path.
    const isBare = index === 0 || PLAIN.test(segment) || segment.includes("[");
    return isBare ? `.${segment}` : `[${JSON.stringify(segment)}]`;
  });
  return `${first}${path.join("")}`;
}
