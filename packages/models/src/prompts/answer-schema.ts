import type { JsonObject } from "@planwright/plan";

/**
 * What a model with structured output answers. Strict schemas allow no free-form objects, so arguments are JSON text; the plan's
 * reader takes both.
 */
export const ANSWER_SCHEMA: JsonObject = {
  type: "object",
  additionalProperties: false,
  required: ["steps", "missing"],
  properties: {
    steps: {
      type: "array",
      items: {
        type: "object",
        additionalProperties: false,
        required: ["id", "tool", "arguments", "dependsOn"],
        properties: {
          id: { type: "string" },
          tool: { type: "string" },
          arguments: { type: "string", description: "The arguments as JSON text of an object" },
          dependsOn: { type: "array", items: { type: "string" } },
        },
      },
    },
    missing: { type: ["string", "null"] },
  },
};
