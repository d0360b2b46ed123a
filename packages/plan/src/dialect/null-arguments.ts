import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import { setOwn } from "../json/own-property.ts";
import { schemaAtPath, typesOfSchemas } from "../schema/schema-paths.ts";

/**
 * The arguments without optional ones that are null although the tool does not accept null: structured model
 * output cannot leave them out. Also inside objects that the schema describes. Arguments that the schema does
 * not describe stay.
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

/** Also true when the schema does not define it. */
function takesNull(name: string, schema: JsonObject): boolean {
  const found = schemaAtPath(schema, [{ type: "key", key: name }]);
  const types = found.type === "known" ? typesOfSchemas(found.schemas) : undefined;
  return types === undefined || types.has("null");
}
