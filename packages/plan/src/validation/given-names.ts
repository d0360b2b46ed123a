import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import { visitTexts } from "../json/map-json.ts";
import { type PathSegment, printReference } from "../json/path.ts";
import { schemaOfShape } from "../observed-output/shape-schema.ts";
import { schemaAtPath } from "../schema/schema-paths.ts";
import type { ToolDescriptor } from "../tools/tool-descriptor.ts";
import { parameterKind, wordsOfName } from "./no-value.ts";

/** A call whose output contains the id of the thing that it names. */
export interface GivenName {
  readonly stepId: string;
  /** The reference to the id, if its path is known. */
  readonly reference: string | undefined;
}

/** The data of a call for this check. */
export interface NamingCall {
  readonly id: string;
  readonly arguments: JsonObject;
  readonly tool: ToolDescriptor;
}

/** The names in earlier calls of a plan, and the ids that these calls return. */
export interface GivenNames {
  add(call: NamingCall): void;
  /** The last earlier call whose output declares a field with the name of the parameter. */
  fieldOf(parameter: string): GivenName | undefined;
  /** The last earlier call with this name in its arguments that returns the id which the parameter needs. */
  idOf(name: string, parameter: string): GivenName | undefined;
}

const MAX_LENGTH = 100;
/** Maximum number of names of one call. */
const MAX_NAMES = 200;
/** Maximum number of paths of an output that are searched for an id. */
const MAX_PLACES = 200;
/**
 * A capital and lower-case letters, several words, or letters of a script without capitals: `Alice`, `Kim
 * Park`, `田中`.
 */
const NAME =
  /^(?=\p{L})(?:\p{Lu}[\p{L}\p{M}'’.-]*\p{Ll}[\p{L}\p{M}'’.-]*|\p{Lo}+|[\p{L}\p{M}'’.-]+(?: [\p{L}\p{M}'’.-]+){1,6})$/u;

/** True for a text with the form of the name of a person or a thing, which no id has. */
export function isNameOfThing(text: string): boolean {
  const trimmed = text.trim();
  return trimmed.length <= MAX_LENGTH && NAME.test(trimmed);
}

/** An empty collection. Of several calls with the same name the last one counts. */
export function createGivenNames(): GivenNames {
  const calls = new Map<string, NamingCall[]>();
  const fields = new Map<string, GivenName>();
  return {
    add(call) {
      const names = new Set<string>();
      visitTexts(call.arguments, (text, place) => {
        const field = typeof place?.key === "string" ? place.key : String(place?.parent?.key ?? "");
        if (names.size < MAX_NAMES && isNameOfThing(text) && parameterKind(field) === "any")
          names.add(plain(text));
      });
      for (const name of fieldsOf(outputSchemaOf(call.tool) ?? null)) {
        const reference = printReference(call.id, [{ type: "key", key: name }]);
        fields.set(wordsOfName(name).join(" "), { stepId: call.id, reference });
      }
      for (const name of names) calls.set(name, [...(calls.get(name) ?? []).slice(-4), call]);
    },
    fieldOf: (parameter) => fields.get(wordsOfName(parameter).join(" ")),
    idOf(name, parameter) {
      if (!isNameOfThing(name)) return undefined;
      for (const call of (calls.get(plain(name)) ?? []).toReversed()) {
        const given = idGivenBy(call, parameter);
        if (given) return given;
      }
      return undefined;
    },
  };
}

const plain = (name: string): string => name.normalize("NFKC").trim().replace(/\s+/g, " ").toLowerCase();

/**
 * The id that a call returns: by its output schema, by earlier outputs, or, without both, by a word that the
 * tool and the parameter share.
 */
function idGivenBy({ id, tool }: NamingCall, parameter: string): GivenName | undefined {
  const schema = outputSchemaOf(tool);
  if (!schema) {
    const things = wordsOfName(parameter).slice(0, -1);
    const words = new Set(wordsOfName(tool.name));
    return things.some((thing) => words.has(thing)) ? { stepId: id, reference: undefined } : undefined;
  }
  const path = pathOfId(schema, parameter);
  if (!path) return undefined;
  const isSingle = path.every(({ type }) => type === "key");
  return { stepId: id, reference: isSingle ? printReference(id, path) : undefined };
}

/** The declared schema of a tool's output, or that of earlier outputs. */
function outputSchemaOf(tool: ToolDescriptor): JsonObject | undefined {
  if (isJsonObject(tool.outputSchema)) return tool.outputSchema;
  return tool.observedOutput && schemaOfShape(tool.observedOutput);
}

/** The path of the nearest id field of an output: first a field with the parameter's name. */
function pathOfId(schema: JsonObject, parameter: string): readonly PathSegment[] | undefined {
  const wanted = wordsOfName(parameter).join(" ");
  const pending: (readonly PathSegment[])[] = [[]];
  let nearest: readonly PathSegment[] | undefined;
  for (let count = 0; count < MAX_PLACES; count++) {
    const path = pending[count];
    if (!path) break;
    const found = schemaAtPath(schema, path);
    for (const each of found.type === "known" ? found.schemas : []) {
      for (const name of fieldsOf(each)) {
        const inner: readonly PathSegment[] = [...path, { type: "key", key: name }];
        const words = wordsOfName(name);
        if (words.join(" ") === wanted) return inner;
        if (words.length === 1 && parameterKind(name) === "id") nearest ??= inner;
        if (inner.length < 5) pending.push(inner);
      }
      if (isJsonObject(each) && isJsonObject(each["items"]) && path.length < 4)
        pending.push([...path, { type: "all" }]);
    }
  }
  return nearest;
}

function fieldsOf(schema: JsonValue): string[] {
  const properties = isJsonObject(schema) ? schema["properties"] : undefined;
  return isJsonObject(properties) ? Object.keys(properties).slice(0, MAX_PLACES) : [];
}
