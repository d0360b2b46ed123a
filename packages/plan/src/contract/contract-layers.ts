/**
 * Reads what a tool declares about itself, place by place. Descriptors are untrusted: every value is copied
 * into bounded plain data before it is read, each field is checked alone, and every error becomes a warning.
 */
import type { ZodError } from "zod";
import { copyJson } from "../json/copy-json.ts";
import { isJsonObject, type JsonObject } from "../json/json.ts";
import type { ToolDescriptor } from "../tools/tool-descriptor.ts";
import { type ContractDeclaration, ContractDeclarationSchema, type ContractSource } from "./contract.ts";

/** The fields that one place declares; `trusted` = they may also loosen. */
export interface ContractLayer {
  source: ContractSource;
  trusted: boolean;
  fields: ContractDeclaration;
  /**
   * It says that the tool only reads; that is believed for parallelism and repeats although the place is not
   * trusted.
   */
  isReadOnlyBelieved?: true;
}

/** Takes a warning in one sentence. */
export type Warn = (message: string) => void;

const KEY = "x-orchestration";
const FIELDS = Object.keys(ContractDeclarationSchema.shape);
const LIMITS = { maxDepth: 32, maxBytes: 65_536 };

/**
 * The places in order of precedence, only those that declare something: override, `_meta["x-orchestration"]`,
 * top level (its `x-orchestration` before bare fields), `inputSchema["x-orchestration"]`, annotations.
 */
export function contractLayers(
  descriptor: ToolDescriptor,
  { trusted, believesReadOnly, override }: { trusted: boolean; believesReadOnly: boolean; override: unknown },
  warn: Warn,
): ContractLayer[] {
  const places: [ContractSource, string, unknown][] = [
    ["override", "override", override],
    ["meta", `_meta["${KEY}"]`, ownMember(ownMember(descriptor, "_meta"), KEY)],
    ["top-level", KEY, ownMember(descriptor, KEY)],
  ];
  const layers = places.flatMap(([source, place, value]): ContractLayer[] => {
    if (value === undefined || value === null) return [];
    const fields = readDeclaration(value, place, warn);
    return [{ source, trusted: trusted || source === "override", fields }];
  });
  const nested = ownMember(ownMember(descriptor, "inputSchema"), KEY);
  layers.push({ source: "top-level", trusted, fields: readFields(descriptor, "top level", warn) });
  if (nested !== undefined && nested !== null) {
    const fields = readDeclaration(nested, `inputSchema["${KEY}"]`, warn);
    layers.push({ source: "inputSchema", trusted, fields });
  }
  layers.push(layerOfAnnotations(fieldsOfAnnotations(descriptor, warn), trusted, believesReadOnly));
  return layers.filter(
    ({ fields, isReadOnlyBelieved }) => isReadOnlyBelieved || Object.keys(fields).length > 0,
  );
}

function layerOfAnnotations(
  fields: ContractDeclaration,
  trusted: boolean,
  believesReadOnly: boolean,
): ContractLayer {
  const layer: ContractLayer = { source: "annotations", trusted, fields };
  if (trusted || !believesReadOnly || fields.side_effects !== false) return layer;
  return { ...layer, fields: {}, isReadOnlyBelieved: true };
}

/** A member of an object that is its own and can be read; undefined otherwise. Never throws. */
export function ownMember(object: unknown, key: string): unknown {
  if (typeof object !== "object" || object === null) return undefined;
  try {
    return Object.hasOwn(object, key) ? Reflect.get(object, key) : undefined;
  } catch {
    // A getter or proxy that throws says nothing: the member counts as absent.
    return undefined;
  }
}

function readDeclaration(value: unknown, place: string, warn: Warn): ContractDeclaration {
  if (isJsonObject(value)) return readFields(value, place, warn);
  warn(`${place} is not an object: ignored`);
  return {};
}

function readFields(object: object, place: string, warn: Warn): ContractDeclaration {
  const declared: JsonObject = {};
  for (const field of FIELDS) {
    const value = ownMember(object, field);
    if (value === undefined || value === null) continue;
    const copy = copyJson(value, LIMITS);
    if (!copy.ok) warn(`${place}: ${field} is ${WORDS[copy.problem]}: ignored`);
    else declared[field] = copy.value;
  }
  return checkFields(declared, place, warn);
}

const WORDS = { "not-json": "not JSON", "too-deep": "nested too deeply", "too-large": "too large" };

/** Parses all fields at once, and only when that fails one by one. */
function checkFields(declared: JsonObject, place: string, warn: Warn): ContractDeclaration {
  const whole = ContractDeclarationSchema.safeParse(declared);
  if (whole.success) return whole.data;
  const valid: JsonObject = {};
  for (const [field, value] of Object.entries(declared)) {
    const alone = ContractDeclarationSchema.safeParse({ [field]: value });
    if (alone.success) valid[field] = value;
    else warn(`${place}: ${field} is not valid (${reasonOf(alone.error)}): ignored`);
  }
  return ContractDeclarationSchema.parse(valid);
}

/** What is wrong with one field, and where inside it. */
function reasonOf({ issues: [issue] }: ZodError): string {
  if (!issue) return "unknown reason";
  return [...issue.path.slice(1).map(String), issue.message].join(": ");
}

/** MCP hints say whether a tool writes and whether a repeat is harmless, nothing else. */
function fieldsOfAnnotations(descriptor: ToolDescriptor, warn: Warn): ContractDeclaration {
  const annotations = ownMember(descriptor, "annotations");
  const hint = (name: string): boolean | undefined => {
    const value = ownMember(annotations, name);
    if (value === undefined || value === null || typeof value === "boolean") return value ?? undefined;
    warn(`annotations: ${name} is not a boolean: ignored`);
    return undefined;
  };
  const isReadOnly = hint("readOnlyHint");
  const isDestructive = hint("destructiveHint") === true;
  const isIdempotent = hint("idempotentHint");
  if (isReadOnly === true && isDestructive) {
    warn("annotations: both readOnlyHint and destructiveHint: taken as a tool that writes");
  }
  const writes = isReadOnly === false || isDestructive;
  return {
    ...(writes ? { side_effects: true } : isReadOnly ? { side_effects: false } : {}),
    ...(isIdempotent === undefined || (isReadOnly === true && !writes)
      ? {}
      : { idempotency: isIdempotent ? "natural" : "none" }),
  };
}
