import type { JsonObject, ToolDescriptor } from "@planwright/plan";

type Schema = JsonObject;

/** A schema: a type in short form, such as "string", or a complete schema. */
const schemaOf = (short: string | Schema): Schema => (typeof short === "string" ? { type: short } : short);

/** A tool descriptor as servers list them; a parameter whose name ends with `?` is optional. */
export function tool(
  name: string,
  description: string,
  parameters: Record<string, string | Schema>,
  outputs: readonly string[] | null = null,
): ToolDescriptor {
  const entries = Object.entries(parameters).map(([key, schema]) => ({
    key: key.replace(/\?$/, ""),
    isRequired: !key.endsWith("?"),
    schema: schemaOf(schema),
  }));
  return {
    name,
    description,
    inputSchema: {
      type: "object",
      properties: Object.fromEntries(entries.map(({ key, schema }) => [key, schema])),
      required: entries.filter(({ isRequired }) => isRequired).map(({ key }) => key),
    },
    ...(outputs
      ? {
          outputSchema: {
            type: "object",
            properties: Object.fromEntries(
              outputs.map((field) => [field, { type: field === "number" ? "integer" : "string" }]),
            ),
          },
        }
      : {}),
  };
}
