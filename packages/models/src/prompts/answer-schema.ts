import type { JsonObject } from "@planwright/plan";

/** Strict schemas allow no free-form objects, so arguments are JSON text; the plan's reader takes both. */
const CALL = { tool: { type: "string" }, arguments: { type: "string" } };
const NAMED = { id: { type: "string" }, ...CALL };
const ORDERED = { ...NAMED, dependsOn: { type: "array", items: { type: "string" } } };

const objectOf = (properties: JsonObject): JsonObject => ({
  type: "object",
  additionalProperties: false,
  required: Object.keys(properties),
  properties,
});

const answerOf = (...steps: JsonObject[]): JsonObject =>
  objectOf({
    steps: { type: "array", items: { anyOf: steps.map(objectOf) } },
    missing: { type: ["array", "null"], items: { type: "string" } },
    impossible: { type: ["string", "null"] },
  });

/**
 * What a model with structured output answers. Strict schemas know no optional fields, so a step is one of two objects: most need neither a
 * name nor an order, and every token of an answer is waited for. What the fields mean stands in the rules, once.
 */
export const ANSWER_SCHEMA: JsonObject = answerOf(CALL, ORDERED);

/** The same for a plan that takes the place of another one: its steps go by the names that those of the other have. */
export const REPLAN_SCHEMA: JsonObject = answerOf(NAMED, ORDERED);
