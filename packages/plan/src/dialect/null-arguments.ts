import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import { setOwn } from "../json/own-property.ts";
import { schemaAtPath, typesOfSchemas } from "../schema/schema-paths.ts";

/**
 * The arguments without those that are null where the tool takes the argument, does not require it and does
 * not take null: structured model output has no other way to leave one out. Also inside objects that the
 * schema describes. What the schema does not describe stays.
 */
export function withoutNulls(args: JsonObject, schema: JsonValue | undefined): JsonObject {
  if (!isJsonObject(schema)) return args;
  const { properties, required } = schema;
  if (!isJsonObject(properties)) return args;
  const needed = new Set(Array.isArray(required) ? required : []);
  const kept: JsonObject = {};
  for (const [name, value] of Object.entries(args)) {
    const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (value === null && own !== undefined && !needed.has(name) && !takesNull(name, schema)) continue;
    setOwn(kept, name, isJsonObject(value) && !Array.isArray(value) ? withoutNulls(value, own) : value);
  }
  return kept;
}

/** True as well where the schema leaves it open. */
function takesNull(name: string, schema: JsonObject): boolean {
  const found = schemaAtPath(schema, [{ type: "key", key: name }]);
  const types = found.type === "known" ? typesOfSchemas(found.schemas) : undefined;
  return types === undefined || types.has("null");
}
