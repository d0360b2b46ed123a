import type { JsonObject } from "@planwright/plan";
import type { PlanLanguage } from "./plan-language.ts";

/**
 * Strict schemas allow no free-form objects, so arguments are JSON text; the reader of plans accepts both.
 */
const CALL = { tool: { type: "string" }, arguments: { type: "string" } };
const NAMED = { id: { type: "string" }, ...CALL };
const ORDERED = { ...NAMED, dependsOn: { type: "array", items: { type: "string" } } };
/** One of the requested outputs. Strict schemas cannot describe an object with free names. */
const PART = { name: { type: "string" }, value: { type: "string" } };
/**
 * A list of calls or a condition. Not every provider's dialect can describe them, so they are JSON text too.
 */
const TEXT = { type: ["string", "null"] };

const objectOf = (properties: JsonObject): JsonObject => ({
  type: "object",
  additionalProperties: false,
  required: Object.keys(properties),
  properties,
});

/**
 * The schema of an answer for models with structured output. Strict schemas have no optional fields, so a
 * step is one of a few objects: most steps need neither a name nor an order, and each token of an answer
 * takes time. The rules in the prompt explain the fields. The schema has only the offered parts of the plan
 * language, so that an answer contains no null for the others. No schema refers to itself, has more than five
 * levels, or has alternatives at its root, because some providers refuse that.
 * @param isReplan - steps of a plan that replaces another one keep the names of its steps
 */
export function answerSchema({ loops, conditions, outputs }: PlanLanguage, isReplan: boolean): JsonObject {
  const language = { ...(loops && { forEach: TEXT }), ...(conditions && { when: TEXT }) };
  const withLanguage = Object.keys(language).length > 0 ? [{ ...ORDERED, ...language }] : [];
  const steps = [isReplan ? NAMED : CALL, ORDERED, ...withLanguage];
  return objectOf({
    steps: { type: "array", items: { anyOf: steps.map(objectOf) } },
    ...(outputs && { outputs: { type: ["array", "null"], items: objectOf(PART) } }),
    missing: { type: ["array", "null"], items: { type: "string" } },
    impossible: { type: ["string", "null"] },
  });
}
