import {
  canonicalJson,
  isJsonObject,
  type JsonObject,
  OwnToolNameSchema,
  type ToolDescriptor,
} from "@planwright/plan";

import { operatorContract } from "../config/known-contracts.ts";
import type { ServerConfig } from "../config/server-config.ts";

/** Longest description that is kept, in characters; a longer one is truncated. */
const MAX_DESCRIPTION = 4_096;
const MAX_TITLE = 256;
/** Largest descriptor, as JSON text; a tool above it is dropped. */
const MAX_DESCRIPTOR_BYTES = 65_536;
/** Deepest nesting of a descriptor, so that code which walks it later needs no guard. */
const MAX_DEPTH = 64;
/** Fields about the origin of a tool and its observed outputs. Only we set them, never the server. */
const OWN_FIELDS = ["server", "trusted", "override", "observedOutput"] as const;

/**
 * Control characters, and invisible characters that can hide text from people: soft hyphen, zero width,
 * direction, tags.
 */
const INVISIBLE =
  // oxlint-disable-next-line no-control-regex -- removing them is the point
  /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u00AD\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF\uFFF9-\uFFFB]|[\u{E0000}-\u{E007F}]/gu;

/** The usable tools, and what was dropped or truncated. */
export interface ListedTools {
  tools: ToolDescriptor[];
  warnings: string[];
}

/**
 * Reads the tools that a server listed. They are untrusted: names must be valid and unique, schemas must be
 * objects, texts are truncated and cleaned of invisible characters. One bad tool does not hide the good ones.
 */
export function readListedTools(
  server: string,
  config: ServerConfig,
  listed: readonly unknown[],
): ListedTools {
  const warnings: string[] = [];
  const tools = new Map<string, ToolDescriptor>();
  listed.forEach((entry, index) => {
    const read = readTool(server, config, entry);
    if ("problem" in read)
      warnings.push(`Tool ${read.name ?? `number ${index + 1}`} dropped: ${read.problem}`);
    else if (tools.has(read.tool.name)) warnings.push(`Tool ${read.tool.name} dropped: listed twice`);
    else tools.set(read.tool.name, read.tool);
  });
  for (const name of Object.keys(config.tools)) {
    if (!tools.has(nameInCatalogue(server, name)))
      warnings.push(`The configuration names tool ${name}, which is not listed`);
  }
  return { tools: [...tools.values()], warnings };
}

function readTool(
  server: string,
  config: ServerConfig,
  entry: unknown,
): { tool: ToolDescriptor } | { name?: string; problem: string } {
  if (!isJsonObject(entry)) return { problem: "not an object" };
  const { name } = entry;
  if (typeof name !== "string") return { problem: "it has no name" };
  const shown = clean(name, 100);
  if (!OwnToolNameSchema.safeParse(name).success) {
    return {
      name: shown,
      problem:
        "its name is not 1 to 128 printable characters with no blank at the ends, or a word of it mixes Latin, Cyrillic and Greek letters",
    };
  }
  if (!isObjectSchema(entry["inputSchema"]))
    return { name: shown, problem: "its inputSchema is not the schema of an object" };
  if (!isAbsentOr(isJsonObject, entry["outputSchema"])) {
    return { name: shown, problem: "its outputSchema is not a schema" };
  }
  if (!isWithinDepth(entry, MAX_DEPTH))
    return { name: shown, problem: `it is nested deeper than ${MAX_DEPTH}` };
  if (canonicalJson(entry).length > MAX_DESCRIPTOR_BYTES) {
    return { name: shown, problem: `its descriptor is larger than ${MAX_DESCRIPTOR_BYTES} bytes` };
  }
  const { description, title, annotations, _meta, ...rest } = entry;
  for (const field of OWN_FIELDS) delete rest[field];
  const override = operatorContract(config, name, entry["inputSchema"]);
  return {
    tool: {
      ...rest,
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

/** A slash separates the server from the tool, so a name that contains one is prefixed with its server. */
function nameInCatalogue(server: string, ownName: string): string {
  return ownName.includes("/") ? `${server}/${ownName}` : ownName;
}

function isObjectSchema(schema: unknown): schema is JsonObject {
  return isJsonObject(schema) && (schema["type"] === undefined || schema["type"] === "object");
}

function isAbsentOr(test: (value: unknown) => boolean, value: unknown): boolean {
  return value === undefined || test(value);
}

function isWithinDepth(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return depth > 0 && Object.values(value).every((item) => isWithinDepth(item, depth - 1));
}

function clean(text: string, maxLength: number): string {
  const visible = text.slice(0, maxLength * 2).replace(INVISIBLE, "");
  return visible.length > maxLength ? `${visible.slice(0, maxLength - 3)}...` : visible;
}
