/**
 * Reads the declarations of a tool, layer by layer. Descriptors are untrusted: every value is copied into
 * bounded plain data before it is read, each field is checked separately, and every error becomes a warning.
 */
import type { ZodError } from "zod";
import { dependencyNames } from "../document/dependency-names.ts";
import { copyJson } from "../json/copy-json.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import type { ToolDescriptor } from "../tools/tool-descriptor.ts";
import { type ContractDeclaration, ContractDeclarationSchema, type ContractSource } from "./contract.ts";
import { DEPENDENCY_FIELDS } from "./declared-fields.ts";

/** The fields of one place in a descriptor; `trusted`: they may also loosen the contract. */
export interface ContractLayer {
  source: ContractSource;
  trusted: boolean;
  fields: ContractDeclaration;
  /**
   * The layer declares that the tool only reads. That is believed for parallelism and repeats, although the
   * layer is not trusted.
   */
  isReadOnlyBelieved?: true;
}

/** Receives a warning of one sentence. */
export type Warn = (message: string) => void;

const KEY = "x-orchestration";
const FIELDS = Object.keys(ContractDeclarationSchema.shape);
const LIMITS = { maxDepth: 32, maxBytes: 65_536 };

/**
 * The layers in order of precedence, without empty ones: override, `_meta["x-orchestration"]`, top level (its
 * `x-orchestration` before bare fields), `inputSchema["x-orchestration"]`, annotations.
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
  const schema = ownMember(descriptor, "inputSchema");
  const nested = ownMember(schema, KEY);
  layers.push({ source: "top-level", trusted, fields: readFields(descriptor, "top level", warn) });
  if (nested !== undefined && nested !== null) {
    const fields = readDeclaration(nested, `inputSchema["${KEY}"]`, warn);
    layers.push({ source: "inputSchema", trusted, fields });
  }
  layers.push({ source: "inputSchema", trusted, fields: listedInSchema(schema, warn) });
  layers.push(layerOfAnnotations(fieldsOfAnnotations(descriptor, warn), trusted, believesReadOnly));
  return layers.filter(
    ({ fields, isReadOnlyBelieved }) => isReadOnlyBelieved || Object.keys(fields).length > 0,
  );
}

/**
 * The dependencies that a schema lists beside its properties, as an older system does. An object there is
 * the keyword `dependencies` of JSON Schema.
 */
function listedInSchema(schema: unknown, warn: Warn): ContractDeclaration {
  const listed = DEPENDENCY_FIELDS.map((name) => [name, ownMember(schema, name)] as const);
  const named = listed.filter(([, value]) => typeof value === "string" || Array.isArray(value));
  return readFields(Object.fromEntries(named), "inputSchema", warn);
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

/** An own member of an object; undefined when it is missing or cannot be read. Never throws. */
export function ownMember(object: unknown, key: string): unknown {
  if (typeof object !== "object" || object === null) return undefined;
  try {
    return Object.hasOwn(object, key) ? Reflect.get(object, key) : undefined;
  } catch {
    // A member whose getter or proxy throws counts as absent.
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
    else declared[field] = listForm(field, copy.value);
  }
  return checkFields(declared, place, warn);
}

const NAMES_OF_DEPENDENCIES: ReadonlySet<string> = new Set(DEPENDENCY_FIELDS);

/** Names are a list, whatever the form in which calls and tools may write them. */
function listForm(field: string, value: JsonValue): JsonValue {
  if (field === "provides") return typeof value === "string" ? [value] : value;
  const named = NAMES_OF_DEPENDENCIES.has(field) ? dependencyNames(value) : undefined;
  return named?.map(({ name, fields }) => ({ tool: name, required_fields: [...fields] })) ?? value;
}

const WORDS = { "not-json": "not JSON", "too-deep": "nested too deeply", "too-large": "too large" };

/** Parses all fields together; when that fails, one by one. */
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

/** The error of one field, and its path inside the field. */
function reasonOf({ issues: [issue] }: ZodError): string {
  if (!issue) return "unknown reason";
  return [...issue.path.slice(1).map(String), issue.message].join(": ");
}

/** The fields that MCP hints declare: only whether a tool writes and whether a repeat is harmless. */
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
