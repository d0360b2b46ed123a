import { canonicalJson } from "../json/canonical-json.ts";
import { canonicalDigest } from "../json/digest.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import { setOwn } from "../json/own-property.ts";
import { SCHEMA_LISTS, SCHEMA_MAPS, SCHEMAS } from "../schema/prepare-schema.ts";
import { jsonTypesOf } from "../schema/schema-types.ts";
import { bareName } from "../tools/name-tools.ts";
import { remembered } from "../tools/remembered.ts";
import type { ToolDescriptor } from "../tools/tool-descriptor.ts";

/** The declarations of a tool, apart from its name, by what they mean. */
export interface ToolMeaning {
  /** Its title and description, for people and models. */
  readonly description: unknown;
  readonly inputSchema: unknown;
  readonly outputSchema: unknown;
  readonly annotations: unknown;
  /** Its contract, and fields that MCP does not define. */
  readonly contract: unknown;
  /**
   * What changes no call: texts, examples and default values in the schemas, icons, and `_meta` without the
   * contract.
   */
  readonly texts: unknown;
}

/**
 * SHA-256, in hexadecimal, of what the tool's declarations mean: name, title, description, schemas,
 * annotations, contract. The order of lists that are sets (`required`, `enum`, `anyOf`, ...) and the
 * {@link ToolMeaning.texts} do not count, because servers write them anew at each listing. The operator's
 * configuration (name of the server, trust, override, the prefix that makes a name unique) and the shape of
 * its observed outputs do not count either: they do not change the tool.
 */
export function toolDigest(descriptor: ToolDescriptor): string {
  const { texts: _, ...counted } = toolMeaning(descriptor);
  return canonicalDigest({ ...counted, name: bareName(descriptor) });
}

/** The declarations of a tool by what they mean; computed once for a descriptor, which must not change. */
export const toolMeaning: (descriptor: ToolDescriptor) => ToolMeaning = remembered((descriptor) => {
  const { title, description, inputSchema, outputSchema, annotations, contract } = declarations(descriptor);
  const { _meta: meta, icons, ...fields } = contract;
  const { [CONTRACT]: declared, ...otherMeta } = isJsonObject(meta) ? meta : {};
  const { title: hintTitle, ...hints } = isJsonObject(annotations) ? annotations : {};
  const texts: string[] = [];
  return {
    description: { title: title ?? hintTitle, description },
    inputSchema: schemaMeaning(inputSchema, ["input"], texts),
    outputSchema: schemaMeaning(outputSchema, ["output"], texts),
    annotations: isJsonObject(annotations) ? { ...present(hints) } : undefined,
    contract: present({ ...fields, _meta: present({ [CONTRACT]: declared }) }),
    texts: [texts.toSorted(), present(otherMeta), icons],
  };
});

/** The field of a contract, see `contract-layers.ts`. */
const CONTRACT = "x-orchestration";

/** What the server declares about a tool, apart from its name. */
export function declarations(descriptor: ToolDescriptor) {
  const { name: _name, server: _server, trusted: _trusted, override: _override, ...rest } = descriptor;
  const { observedOutput: _observedOutput, ...own } = rest;
  const { title, description, inputSchema, outputSchema, annotations, ...contract } = own;
  return { title, description, inputSchema, outputSchema, annotations, contract };
}

/** The fields with a value; undefined without any. A field that is null is absent. */
function present(fields: { [name: string]: unknown }): { [name: string]: unknown } | undefined {
  const kept = Object.entries(fields).filter(([, field]) => field !== undefined && field !== null);
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

/** Keywords with texts for people, and values that only a server uses. */
const TEXTS = new Set(["title", "description", "default", "examples", "example", "deprecated", "$comment"]);
/** Deeper schemas count as they are written. */
const MAX_DEPTH = 100;

/**
 * A schema without its texts, with lists that are sets in one order, and with type names of JSON Schema.
 * @param texts - receives each text with its place
 */
function schemaMeaning(schema: unknown, place: readonly string[], texts: string[]): unknown {
  if (!isJsonObject(schema) || place.length > MAX_DEPTH) return schema;
  const meaning: JsonObject = {};
  for (const [keyword, operand] of Object.entries(schema)) {
    const below = [...place, keyword];
    if (TEXTS.has(keyword)) texts.push(canonicalJson([below, operand]));
    else if (operand !== null || keyword === "const") {
      const meant = operandMeaning(keyword, operand, below, texts);
      if (meant !== undefined) setOwn(meaning, keyword, meant as JsonValue);
    }
  }
  return meaning;
}

function operandMeaning(
  keyword: string,
  operand: JsonValue,
  place: readonly string[],
  texts: string[],
): unknown {
  if (keyword === "type") {
    const types = asSet([...(jsonTypesOf(operand) ?? (Array.isArray(operand) ? operand : [operand]))]);
    return types.length === 1 ? types[0] : types;
  }
  if (keyword === "required")
    return Array.isArray(operand) && operand.length === 0 ? undefined : asSet(operand);
  if (keyword === "enum") return asSet(operand);
  if (keyword === "dependentRequired" && isJsonObject(operand)) return mapFields(operand, asSet);
  if (SCHEMA_MAPS.has(keyword) && isJsonObject(operand)) {
    if (Object.keys(operand).length === 0) return undefined;
    return mapFields(operand, (inner, name) => schemaMeaning(inner, [...place, name], texts));
  }
  if (!SCHEMA_LISTS.has(keyword) && !SCHEMAS.has(keyword)) return operand;
  if (!Array.isArray(operand)) return schemaMeaning(operand, place, texts);
  const inner = operand.map((each) => schemaMeaning(each, place, texts) as JsonValue);
  // `prefixItems`, and `items` as a list, describe positions.
  return keyword === "prefixItems" || SCHEMAS.has(keyword) ? inner : asSet(inner);
}

/** The different items of a list in one order; any other value itself. */
function asSet<Value>(list: Value): Value extends unknown[] ? Value : Value;
function asSet(list: unknown): unknown {
  if (!Array.isArray(list)) return list;
  const byText = new Map(list.map((item: unknown) => [canonicalJson(item), item]));
  return [...byText].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, item]) => item);
}

function mapFields(
  fields: JsonObject,
  meaningOf: (field: JsonValue, name: string) => unknown,
): { [name: string]: unknown } {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, meaningOf(field, name)]));
}
