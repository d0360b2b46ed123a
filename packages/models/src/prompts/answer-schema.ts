import type { JsonObject } from "@planwright/plan";
import type { PlanLanguage } from "./plan-language.ts";

/** Strict schemas allow no free-form objects, so arguments are JSON text; the plan's reader takes both. */
const CALL = { tool: { type: "string" }, arguments: { type: "string" } };
const NAMED = { id: { type: "string" }, ...CALL };
const ORDERED = { ...NAMED, dependsOn: { type: "array", items: { type: "string" } } };
/** One of the requested outputs. Strict schemas cannot describe an object with free names. */
const PART = { name: { type: "string" }, value: { type: "string" } };
/**
 * A list of calls or a condition. Not every provider's dialect can describe them, so they are JSON text as
 * well.
 */
const TEXT = { type: ["string", "null"] };

const objectOf = (properties: JsonObject): JsonObject => ({
  type: "object",
  additionalProperties: false,
  required: Object.keys(properties),
  properties,
});

/**
 * What a model with structured output answers. Strict schemas know no optional fields, so a step is one of a
 * few objects: most need neither a name nor an order, and each token of an answer takes time. The rules say
 * once what the fields mean. The schema has only those parts of the language that are offered, so an answer
 * holds no null for the others. No schema refers to itself, is nested more than five levels, or has
 * alternatives at its root, which some provider refuses.
 * @param isReplan - steps of a plan that replaces another one keep the names of its steps
 */
export function answerSchema({ loops, conditions, outputs }: PlanLanguage, isReplan: boolean): JsonObject {
  const language = { ...(loops && { forEach: TEXT }), ...(conditions && { when: TEXT }) };
  const whole = Object.keys(language).length > 0 ? [{ ...ORDERED, ...language }] : [];
  const steps = [isReplan ? NAMED : CALL, ORDERED, ...whole];
  return objectOf({
    steps: { type: "array", items: { anyOf: steps.map(objectOf) } },
    ...(outputs && { outputs: { type: ["array", "null"], items: objectOf(PART) } }),
    missing: { type: ["array", "null"], items: { type: "string" } },
    impossible: { type: ["string", "null"] },
  });
}
