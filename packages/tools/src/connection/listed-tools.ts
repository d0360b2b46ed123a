import {
  depthOf,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type LeftOutTool,
  OwnToolNameSchema,
  readListedSchemas,
  sha256,
  type ToolDescriptor,
} from "@planwright/plan";

import { operatorContract } from "../config/known-contracts.ts";
import type { ServerConfig } from "../config/load-servers-file.ts";

/** Longest description that is kept, in characters; a longer one is truncated. */
const MAX_DESCRIPTION = 4_096;
const MAX_TITLE = 256;
/** Largest descriptor, as JSON text; a tool above it is dropped. */
const MAX_DESCRIPTOR_BYTES = 65_536;
/** Deepest nesting of a descriptor, so that code which walks it later needs no guard. */
const MAX_DEPTH = 64;
/** Most left-out tools of one server that are reported; all are counted. */
export const MAX_LEFT_OUT = 100;
/** Longest shown name of a left-out tool, in characters. */
const MAX_SHOWN_NAME = 128;
/** Fields about the origin of a tool and its observed outputs. Only we set them, never the server. */
const OWN_FIELDS = ["server", "trusted", "override", "observedOutput"] as const;

/**
 * Control characters, and invisible characters that can hide text from people: soft hyphen, zero width,
 * direction, tags.
 */
const INVISIBLE =
  // oxlint-disable-next-line no-control-regex -- removing them is the point
  /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u00AD\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF\uFFF9-\uFFFB]|[\u{E0000}-\u{E007F}]/gu;

/** The usable tools, and those that no plan can use. */
export interface ListedTools {
  tools: ToolDescriptor[];
  /** In the order of the list, the first 100. */
  leftOut: LeftOutTool[];
  /** How many entries were left out. */
  leftOutCount: number;
  /** Errors in the configuration of the server's tools. */
  warnings: string[];
}

/**
 * Reads the lists of one session. Many servers are listed again every few seconds, and reading a list takes a tenth of
 * a millisecond for each tool: a list that is the same as the one before gives the same object.
 */
export function createToolReader(
  server: string,
  config: ServerConfig,
  maxTools: number,
): (listed: readonly unknown[], isCut: boolean) => ListedTools {
  let last: { digest: string; read: ListedTools } | undefined;
  return (listed, isCut) => {
    const digest = sha256(JSON.stringify([isCut, listed]));
    if (last?.digest !== digest)
      last = { digest, read: readListedTools(server, config, listed, { maxTools, isCut }) };
    return last.read;
  };
}

/**
 * Reads the tools that a server listed. They are untrusted: names must be valid and unique, schemas must be
 * objects, texts are truncated and cleaned of invisible characters. One bad tool does not hide the good ones.
 * @param limits.maxTools - most entries that are read; later ones are left out
 * @param limits.isCut - true when the server lists more than `listed`
 */
export function readListedTools(
  server: string,
  config: ServerConfig,
  listed: readonly unknown[],
  { maxTools = Number.POSITIVE_INFINITY, isCut = false }: { maxTools?: number; isCut?: boolean } = {},
): ListedTools {
  const warnings: string[] = [];
  const tools = new Map<string, ToolDescriptor>();
  const leftOut: LeftOutTool[] = [];
  let leftOutCount = 0;
  const leave = (tool: string | null, reason: string): void => {
    leftOutCount += 1;
    if (leftOut.length < MAX_LEFT_OUT) leftOut.push({ server, tool, reason });
  };
  listed.forEach((entry, index) => {
    const read = index < maxTools ? readTool(server, config, entry) : beyond(entry, maxTools);
    if ("problem" in read) leave(read.name ?? null, read.problem);
    else if (tools.has(read.tool.name))
      leave(shownName(read.tool.name), "its name is listed twice; the first one is used");
    else {
      tools.set(read.tool.name, read.tool);
      warnings.push(...read.warnings.map((warning) => `Tool ${read.tool.name}: ${warning}`));
    }
  });
  if (isCut) leave(null, `only the first ${listed.length} entries of the list are read`);
  for (const name of Object.keys(config.tools)) {
    if (!tools.has(nameInCatalogue(server, name)))
      warnings.push(`The configuration names tool ${name}, which is not listed`);
  }
  return { tools: [...tools.values()], leftOut, leftOutCount, warnings };
}

function beyond(entry: unknown, maxTools: number): { name?: string; problem: string } {
  const name = isJsonObject(entry) ? entry["name"] : undefined;
  const problem = `a server may have at most ${maxTools} tools, and it comes after them in the list`;
  return typeof name === "string" ? { name: shownName(name), problem } : { problem };
}

function readTool(
  server: string,
  config: ServerConfig,
  entry: unknown,
): { tool: ToolDescriptor; warnings: readonly string[] } | { name?: string; problem: string } {
  if (!isJsonObject(entry)) return { problem: "its entry in the list is not an object" };
  const { name } = entry;
  if (typeof name !== "string") return { problem: "it has no name" };
  const shown = shownName(name);
  if (!OwnToolNameSchema.safeParse(name).success) {
    return {
      name: shown,
      problem:
        "its name is not 1 to 128 printable characters with no blank at the ends, or a word of it mixes Latin, Cyrillic and Greek letters",
    };
  }
  if (entry["inputSchema"] === undefined) return { name: shown, problem: "it has no inputSchema" };
  // Before anything walks it.
  if (depthOf(entry, MAX_DEPTH) > MAX_DEPTH)
    return { name: shown, problem: `it is nested deeper than ${MAX_DEPTH} levels` };
  const text = JSON.stringify(entry);
  // Most descriptors have nothing that a store would refuse or change.
  const isPlain = !NOT_PLAIN.test(text);
  const unstorable = isPlain ? undefined : unstorableName(entry);
  if (unstorable !== undefined) {
    const problem = `its descriptor has the field name ${JSON.stringify(unstorable.slice(0, MAX_SHOWN_NAME))}, which cannot be stored`;
    return { name: shown, problem };
  }
  const descriptor = isPlain ? entry : storable(entry);
  const schemas = readListedSchemas(descriptor);
  if (!schemas.ok) return { name: shown, problem: schemas.problem };
  const size = text.length;
  if (size > MAX_DESCRIPTOR_BYTES) {
    const problem = `its descriptor has ${size} bytes; at most ${MAX_DESCRIPTOR_BYTES} are accepted`;
    return { name: shown, problem };
  }
  const { description, title, annotations, _meta, inputSchema: _, outputSchema: __, ...rest } = descriptor;
  const { inputSchema, outputSchema, warnings } = schemas;
  for (const field of OWN_FIELDS) delete rest[field];
  const override = operatorContract(config, name, inputSchema);
  return {
    warnings,
    tool: {
      ...rest,
      inputSchema,
      ...(outputSchema ? { outputSchema } : {}),
      name: nameInCatalogue(server, name),
      server,
      ...(config.trusted === undefined ? {} : { trusted: config.trusted }),
      ...(override ? { override } : {}),
      ...(typeof title === "string" ? { title: clean(title, MAX_TITLE) } : {}),
      ...(typeof description === "string" ? { description: clean(description, MAX_DESCRIPTION) } : {}),
      ...(isJsonObject(annotations) ? { annotations } : {}),
      ...(isJsonObject(_meta) ? { _meta } : {}),
    },
  };
}

/** What may be in JSON text that the store refuses or changes; a half of a character is an escape in it. */
const NOT_PLAIN = /"\$id"|"_bsontype"|\\u0000|\\ud[89a-f]/;

/** A field name of a value that the store refuses; undefined when there is none. */
function unstorableName(value: JsonValue): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    const found = name === "_bsontype" || name.includes("\0") ? name : unstorableName(inner);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * A copy that the store returns as it is: executors and clients compare a tool with its stored form. `$id` beside a
 * `$ref`, which MongoDB returns as a reference to a document, is left out: no reader of schemas uses it. A half of a
 * character is replaced as MongoDB does it.
 */
function storable(object: JsonObject): JsonObject {
  const isReference = typeof object["$ref"] === "string";
  const members = Object.entries(object).filter(([name]) => !isReference || name !== "$id");
  return Object.fromEntries(members.map(([name, value]) => [wellFormed(name), storableValue(value)]));
}

function storableValue(value: JsonValue): JsonValue {
  if (typeof value === "string") return wellFormed(value);
  if (Array.isArray(value)) return value.map(storableValue);
  return isJsonObject(value) ? storable(value) : value;
}

function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\ufffd");
}

/** A slash separates the server from the tool, so a name that contains one is prefixed with its server. */
function nameInCatalogue(server: string, ownName: string): string {
  return ownName.includes("/") ? `${server}/${ownName}` : ownName;
}

/** A name that no plan can use, on one line. */
function shownName(name: string): string {
  return clean(name, MAX_SHOWN_NAME).replace(/\s/g, " ");
}

function clean(text: string, maxLength: number): string {
  const visible = beginning(text, maxLength * 2).replace(INVISIBLE, "");
  return visible.length > maxLength ? `${beginning(visible, maxLength - 3)}...` : visible;
}

/** The text, cut between two characters. */
function beginning(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : text.slice(0, maxLength).replace(/\p{Surrogate}$/u, "");
}
