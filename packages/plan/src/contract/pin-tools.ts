/**
 * What a stored plan keeps about the tools for which it was made: their identity and their declarations. The
 * names in a catalogue depend on its other tools (`search` becomes `x/search` once another server offers
 * one), and declarations may change; a pin keeps both.
 */

import { type Plan, toolOfStep } from "../document/plan.ts";
import { canonicalDigest, canonicalJson } from "../json/exact-json.ts";
import { isJsonObject, type JsonObject, type JsonValue, setOwn } from "../json/json.ts";
import { SCHEMA_LISTS, SCHEMA_MAPS, SCHEMAS } from "../schema/compile-schema.ts";
import { jsonTypesOf } from "../schema/schema-types.ts";
import {
  bareName,
  findServerTool,
  findTool,
  remembered,
  type ToolDescriptor,
  type ToolIndex,
  toolIndexOf,
} from "../tools/tool-descriptor.ts";
import { knownContract } from "./tool-contract.ts";

/** The declarations of a tool, apart from its name, by what they mean. */
interface ToolMeaning {
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
const toolMeaning: (descriptor: ToolDescriptor) => ToolMeaning = remembered((descriptor) => {
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
function declarations(descriptor: ToolDescriptor) {
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

/** The parts of a tool's declarations. */
const TOOL_PARTS = [
  "description",
  "inputSchema",
  "outputSchema",
  "annotations",
  "contract",
  "texts",
] as const satisfies readonly (keyof ToolMeaning)[];
export type ToolPart = (typeof TOOL_PARTS)[number];

/** Identity and declarations of a tool. */
export interface ToolFingerprint {
  /** The server that offers it; null for a tool without one. */
  server: string | null;
  /** The server's name for it. */
  name: string;
  /** Digest of its declarations: {@link toolDigest}. */
  digest: string;
  /**
   * The first 16 digits of a digest of each part, to find which part has changed. Without `texts` the pin was
   * stored by an older version: all its digests are of the declarations as they were written.
   */
  parts: { [part in Exclude<ToolPart, "texts">]: string } & { texts?: string | undefined };
}

/** A tool as it was when a plan was made. */
export interface ToolPin extends ToolFingerprint {
  /** Its name in the plan. */
  tool: string;
  /** Its lookup tool, by its contract at that time. Absent: none. */
  lookup?: ToolFingerprint | undefined;
  /**
   * It was a barrier, by its contract and the operator's configuration at that time. For reports; execution
   * uses the current contract.
   */
  barrier?: true | undefined;
}

/**
 * Pins the tools of a plan, each once, in the order of their first steps. A tool that is not in the catalogue
 * keeps its earlier pin, or gets none.
 * @param tools - the catalogue that the plan was checked against, which must not change: its digests are
 *   computed once
 * @param earlier - pins of an earlier version of the plan: its tools stay on the same servers
 */
export function pinTools(
  plan: Pick<Plan, "steps">,
  tools: readonly ToolDescriptor[],
  earlier: readonly ToolPin[] = [],
): ToolPin[] {
  const before = new Map(earlier.map((pin) => [pin.tool, pin]));
  const index = toolIndexOf(tools);
  return [...new Set(plan.steps.map(toolOfStep))].flatMap((name) => {
    const pin = before.get(name);
    const tool = index.findPinned(name, pin);
    return tool ? [pinOf(name, tool, index)] : (pin ?? []);
  });
}

/**
 * The tool that a name in a stored plan means: the pinned one, even when its current name differs; without a
 * pin the tool with that name.
 */
export function findPinnedTool(
  tools: readonly ToolDescriptor[],
  name: string,
  pin: ToolPin | undefined,
): ToolDescriptor | undefined {
  return pin ? findServerTool(tools, pin.server ?? undefined, pin.name) : findTool(tools, name);
}

/** The parts of a tool that differ from its pin; empty for an unchanged tool. */
export function changesSince(then: ToolFingerprint, tool: ToolDescriptor): ToolPart[] {
  const now = then.parts.texts === undefined ? writtenParts(tool) : partDigests(tool);
  return TOOL_PARTS.filter((part) => now[part] !== then.parts[part]);
}

/** True for changes that may change the meaning of a call: all except those of texts. */
export function isMaterialChange(changes: readonly ToolPart[]): boolean {
  return changes.some((part) => part !== "description" && part !== "texts");
}

/** The fingerprint of the current tool, for later comparison. */
export function fingerprintOf(tool: ToolDescriptor): ToolFingerprint {
  return {
    server: tool.server ?? null,
    name: bareName(tool),
    digest: toolDigest(tool),
    parts: partDigests(tool),
  };
}

const knownFingerprint = remembered(fingerprintOf);

function pinOf(name: string, tool: ToolDescriptor, index: ToolIndex): ToolPin {
  const { barrier, lookup } = knownContract(tool).contract;
  const lookupTool = lookup && index.findRelated(tool, lookup.tool);
  return {
    tool: name,
    ...knownFingerprint(tool),
    ...(lookupTool ? { lookup: knownFingerprint(lookupTool) } : {}),
    ...(barrier ? { barrier: true } : {}),
  };
}

const partDigests = remembered((tool: ToolDescriptor): ToolFingerprint["parts"] => ({
  ...partsOf(toolMeaning(tool)),
  texts: shortDigest(toolMeaning(tool).texts),
}));

/** As older versions compared tools: by every character of their declarations. */
function writtenParts(tool: ToolDescriptor): ToolFingerprint["parts"] {
  const { title, description, ...written } = declarations(tool);
  return partsOf({ ...written, description: { title, description } });
}

function partsOf(meaning: Omit<ToolMeaning, "texts">): ToolFingerprint["parts"] {
  return {
    description: shortDigest(meaning.description),
    inputSchema: shortDigest(meaning.inputSchema),
    outputSchema: shortDigest(meaning.outputSchema),
    annotations: shortDigest(meaning.annotations),
    contract: shortDigest(meaning.contract),
  };
}

function shortDigest(value: unknown): string {
  return canonicalDigest(value).slice(0, 16);
}

/**
 * The catalogue for a stored plan: the plan's tools have their names in the plan, even when their current
 * names differ, and no other tool has one of these names, even when the plan's tool no longer exists. Usually
 * the indexed array itself.
 * @param pins - pins of the plan, by its names; a tool without a pin is found by `findTool`
 */
export function catalogueOfPlan(
  plan: Pick<Plan, "steps">,
  index: ToolIndex,
  pins: ReadonlyMap<string, ToolPin>,
): readonly ToolDescriptor[] {
  const names = new Set(plan.steps.map(toolOfStep));
  const known = [...names].map((name) => ({ name, tool: index.findPinned(name, pins.get(name)) }));
  if (known.every(({ name, tool }) => tool?.name === name)) return index.tools;
  const own = new Set(known.map(({ tool }) => tool));
  return [
    ...known.flatMap(({ name, tool }) => (tool ? [tool.name === name ? tool : { ...tool, name }] : [])),
    ...index.tools.filter((tool) => !own.has(tool) && !names.has(tool.name)),
  ];
}

/**
 * The pins of a stored plan by its names for the tools; none for a plan that was stored before pins existed.
 */
export function pinsByTool(pins: readonly ToolPin[] = []): ReadonlyMap<string, ToolPin> {
  return new Map(pins.map((pin) => [pin.tool, pin]));
}
