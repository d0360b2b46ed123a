import { isJsonObject, type JsonObject, type JsonValue, leavesOpen } from "@planwright/plan";
import type { ToolRecord } from "../operations.ts";

/** The module that `planwright types` writes: the same tools give the same text. */
export async function toolTypes(
  tools: readonly Pick<ToolRecord, "name" | "inputSchema" | "outputSchema" | "observedOutput">[],
): Promise<string> {
  const sorted = tools.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const taken = new Set<string>();
  const members: string[] = [];
  const namespaces: string[] = [];
  for (const { name, inputSchema, outputSchema, observedOutput } of sorted) {
    const unique = uniqueName(name, taken);
    // What was seen in earlier runs may have more fields; what is declared has no others.
    const seen = leavesOpen(outputSchema ?? undefined) ? observedOutput?.schema : undefined;
    namespaces.push(
      await namespaceOf(`${unique}Arguments`, inputSchema, false),
      await namespaceOf(`${unique}Output`, seen ?? outputSchema, seen !== undefined),
    );
    members.push(
      `  ${JSON.stringify(name)}: { arguments: ${unique}Arguments.Value; output: ${unique}Output.Value };`,
    );
  }
  return `// Written by planwright types from the tools of the catalogue: run it again instead of changing this file.
import { planDefiner } from "@planwright/client";

/** The tools that plans may use. */
export interface Tools {
${members.join("\n")}
}

/** Returns a plan unchanged. A wrong tool, argument or reference does not compile. */
export const definePlan = planDefiner<Tools>();

${namespaces.join("\n")}`;
}

/** An identifier for a tool that no other tool has. */
function uniqueName(tool: string, taken: Set<string>): string {
  const words = tool.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  const name = words.map((word) => (word[0] ?? "").toUpperCase() + word.slice(1)).join("");
  const base = /^[A-Z]/.test(name) ? name : `Tool${name}`;
  let unique = base;
  for (let number = 2; taken.has(unique); number += 1) unique = `${base}${number}`;
  taken.add(unique);
  return unique;
}

/** The types of one schema; those of its `$defs` are beside its `Value`. */
async function namespaceOf(name: string, schema: JsonValue, isOpen: boolean): Promise<string> {
  const body = (await declarationsOf(schema, isOpen)).trim().split("\n");
  return `export declare namespace ${name} {\n${body.map((line) => `  ${line}`.trimEnd()).join("\n")}\n}\n`;
}

const ANY = "export type Value = unknown";

async function declarationsOf(schema: JsonValue, isOpen: boolean): Promise<string> {
  if (!isJsonObject(schema)) return ANY;
  // Loaded when it is needed, as most commands do without.
  const { compile } = await import("json-schema-to-typescript-lite");
  try {
    return await compile(plainSchema(schema), "Value", {
      additionalProperties: isOpen,
      // A schema comes from a server: it must not name files of this machine, or other servers.
      $refOptions: { resolve: { external: false } },
    });
  } catch {
    return `// Its schema has no types.\n${ANY}`;
  }
}

/** What types are made from. Everything else is left out: some keywords would put the server's text into the code. */
const KEYWORDS = {
  value: ["items", "additionalProperties"],
  list: ["anyOf", "oneOf", "allOf"],
  map: ["properties", "$defs", "definitions"],
} as const;

function plainSchema(schema: JsonObject): JsonObject {
  const kept: JsonObject = {};
  const { type, required, description, $ref } = schema;
  if (type !== undefined) kept["type"] = type;
  if (Array.isArray(required)) kept["required"] = required;
  if (typeof description === "string") kept["description"] = description;
  if (typeof $ref === "string" && $ref.startsWith("#")) kept["$ref"] = $ref;
  if (isPlain(schema["const"])) kept["const"] = schema["const"];
  const values = schema["enum"];
  if (Array.isArray(values) && values.every(isPlain)) kept["enum"] = values;
  for (const keyword of KEYWORDS.value) {
    const inner = schema[keyword];
    if (isJsonObject(inner)) kept[keyword] = plainSchema(inner);
    else if (typeof inner === "boolean") kept[keyword] = inner;
  }
  for (const keyword of KEYWORDS.list) {
    const inner = schema[keyword];
    if (Array.isArray(inner)) kept[keyword] = inner.filter(isJsonObject).map(plainSchema);
  }
  for (const keyword of KEYWORDS.map) {
    const inner = schema[keyword];
    if (!isJsonObject(inner)) continue;
    const entries = Object.entries(inner).filter(([name]) => name !== INDEX);
    kept[keyword] = Object.fromEntries(
      entries.map(([name, value]) => [name, isJsonObject(value) ? plainSchema(value) : {}]),
    );
  }
  // The library takes a schema that has only a description for an object; it means any value.
  const { description: _, ...shape } = kept;
  return Object.keys(shape).length === 0 ? {} : kept;
}

/** The library writes a field of this name as an index. */
const INDEX = "[k: string]";

function isPlain(value: JsonValue | undefined): value is string | number | boolean | null {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}
