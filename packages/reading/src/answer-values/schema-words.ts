import { exactAsText, isJsonObject, type JsonValue, type ToolDescriptor } from "@planwright/plan";

/** Maximum number of parts of one schema that are read. */
const MAX_PARTS = 20_000;
const NONE: ReadonlySet<string | number> = new Set();

/** The values that schemas of tools list. */
export interface SchemaWords {
  of(tool: ToolDescriptor | undefined): ReadonlySet<string | number>;
}

/**
 * The texts and numbers that schemas list as values (`enum`, `const`, `default`), collected once for each
 * tool. `examples` do not count, because models copy them.
 */
export function createSchemaWords(): SchemaWords {
  const known = new Map<ToolDescriptor, ReadonlySet<string | number>>();
  return {
    of(tool) {
      if (!tool?.inputSchema) return NONE;
      let words = known.get(tool);
      if (!words) {
        words = gather(tool.inputSchema);
        known.set(tool, words);
      }
      return words;
    },
  };
}

function gather(schema: JsonValue): Set<string | number> {
  const words = new Set<string | number>();
  const pending: JsonValue[] = [schema];
  let seen = 0;
  for (let part = pending.pop(); part !== undefined && seen < MAX_PARTS; part = pending.pop()) {
    seen++;
    if (Array.isArray(part)) pending.push(...part.slice(0, MAX_PARTS));
    if (!isJsonObject(part)) continue;
    for (const [name, value] of Object.entries(part)) {
      if (name === "enum" || name === "const" || name === "default") {
        for (const word of Array.isArray(value) ? value : [value])
          if (typeof word === "string" || typeof word === "number") words.add(exactAsText(word));
      }
      if (typeof value === "object" && value !== null) pending.push(value);
    }
  }
  return words;
}
