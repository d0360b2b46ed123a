/**
 * A model sees the calls of a plan without their secrets, and repeats the placeholders if it keeps a step or
 * a part of it. This code restores the secrets, so that no placeholder is sent and an unchanged step is
 * recognised as unchanged. A secret is restored only in its original position, never in another tool, step or
 * argument.
 */
import {
  ForEachSchema,
  isForEachStep,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Step,
  toolOfStep,
} from "@planwright/plan";
import { withoutSecrets } from "../prompts/without-secrets.ts";

/** A step from the model's answer, with the secrets of the old step with the same id. Pure. */
export function restoreSecrets(step: Step, old: Step | undefined): Step {
  if (!old || toolOfStep(step) !== toolOfStep(old)) return step;
  if (!isForEachStep(step))
    return isForEachStep(old) ? step : { ...step, arguments: restored(step.arguments, old.arguments) };
  if (!isForEachStep(old)) return step;
  return { ...step, forEach: ForEachSchema.parse(restored(asJson(step.forEach), asJson(old.forEach))) };
}

function restored(answered: JsonObject, old: JsonObject): JsonObject {
  return restoredEntries(answered, old, withoutSecrets(old));
}

/**
 * @param old - the value that was in the same position; undefined for none
 * @param shown - the same value as the model saw it
 */
function restoredAt(
  answered: JsonValue,
  old: JsonValue | undefined,
  shown: JsonValue | undefined,
): JsonValue {
  if (old === undefined) return answered;
  if (typeof answered === "string") return answered === shown ? old : answered;
  if (Array.isArray(answered))
    return answered.map((item, index) => restoredAt(item, at(old, index), at(shown, index)));
  return isJsonObject(answered) ? restoredEntries(answered, old, shown) : answered;
}

function restoredEntries(answered: JsonObject, old: JsonValue, shown: JsonValue | undefined): JsonObject {
  const entries = Object.entries(answered).map(([key, value]): [string, JsonValue] => [
    key,
    restoredAt(value, at(old, key), at(shown, key)),
  ]);
  return Object.fromEntries(entries);
}

function at(value: JsonValue | undefined, key: string | number): JsonValue | undefined {
  if (Array.isArray(value)) return typeof key === "number" ? value[key] : undefined;
  return isJsonObject(value) && typeof key === "string" && Object.hasOwn(value, key) ? value[key] : undefined;
}

const asJson = (value: object): JsonObject => JSON.parse(JSON.stringify(value));
