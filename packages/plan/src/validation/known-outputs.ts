import type { DraftReference, DraftStep } from "../dialect/draft-step.ts";
import { isJsonObject, type JsonObject } from "../json.ts";
import { scanText } from "../reference/scan-text.ts";
import type { Catalogue } from "./catalogue.ts";
import { type SchemaAtPath, schemaAtPath, typesOfSchemas } from "./schema-paths.ts";

/** Tells what the catalogue knows about what references find. */
export interface KnownOutputs {
  /** What the schema of the source says of the place that a reference leads to. */
  at(reference: DraftReference, step: DraftStep): SchemaAtPath;
  /** Fields that the source's contract promises, where there is no schema: none when nothing is promised. */
  promisedBy(reference: DraftReference): readonly string[];
  /** True for a reference into the output of a forEach. */
  isForEach(reference: DraftReference): boolean;
}

const OPEN: SchemaAtPath = { type: "open" };

/** Looks outputs up by step. */
export function createKnownOutputs(steps: readonly DraftStep[], catalogue: Catalogue): KnownOutputs {
  const byId = new Map(steps.map((step) => [step.id, step]));

  function outputSchema(step: DraftStep | undefined): JsonObject | undefined {
    const schema = step && catalogue.find(step.tool)?.outputSchema;
    const own = isJsonObject(schema) ? schema : undefined;
    return step?.forEach ? envelopeOf(own) : own;
  }

  function at({ source, path }: DraftReference, step: DraftStep): SchemaAtPath {
    if (source.type === "step") {
      const schema = outputSchema(byId.get(source.name));
      return schema ? schemaAtPath(schema, path) : OPEN;
    }
    if (source.name === "index" || !step.forEach) return schemaAtPath({ type: "integer" }, path);
    const { items } = step.forEach;
    const only = typeof items === "string" ? scanText(items)?.parts[0] : undefined;
    if (only?.type !== "reference") return OPEN;
    const schema = outputSchema(byId.get(only.root));
    if (!schema) return OPEN;
    // Items that are no list are a finding of their own.
    const list = schemaAtPath(schema, only.path);
    const types = list.type === "known" ? typesOfSchemas(list.schemas) : undefined;
    return types && !types.has("array")
      ? OPEN
      : schemaAtPath(schema, [...only.path, { type: "all" }, ...path]);
  }

  function promisedBy({ source }: DraftReference): readonly string[] {
    const step = source.type === "step" ? byId.get(source.name) : undefined;
    const tool = step && !step.forEach ? catalogue.find(step.tool) : undefined;
    return tool && !isJsonObject(tool.outputSchema) ? catalogue.contractOf(tool).provides : [];
  }

  const isForEach = ({ source }: DraftReference) =>
    source.type === "step" && byId.get(source.name)?.forEach !== undefined;

  return { at, promisedBy, isForEach };
}

/** Schema of a forEach's output. `$defs` move along, so that references inside keep their targets. */
function envelopeOf(item: JsonObject | undefined): JsonObject {
  const { $defs, definitions } = item ?? {};
  const hasRootReference = item !== undefined && JSON.stringify(item).includes('"$ref":"#"');
  return {
    ...($defs !== undefined && { $defs }),
    ...(definitions !== undefined && { definitions }),
    type: "object",
    additionalProperties: false,
    properties: {
      results: {
        type: "array",
        items: {
          type: "object",
          additionalProperties: false,
          properties: {
            index: { type: "integer" },
            key: { type: "string" },
            status: { type: "string" },
            data: hasRootReference ? {} : (item ?? {}),
            error: {
              type: "object",
              additionalProperties: false,
              properties: { code: { type: "string" }, message: { type: "string" } },
            },
          },
        },
      },
      summary: {
        type: "object",
        additionalProperties: false,
        properties: { ok: { type: "integer" }, error: { type: "integer" } },
      },
    },
  };
}
