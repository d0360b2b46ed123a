import { type GapValue, isJsonObject, type JsonObject, type JsonValue } from "@planwright/plan";
import { escapeReferences, setOwn } from "@planwright/plan/internal";

/** A drafted plan in which some arguments are still missing: `{steps: [{id, tool, arguments, ..}], ..}`. */
export interface DraftWithGaps {
  [field: string]: JsonValue;
  steps: JsonObject[];
}

/**
 * The draft with values in its gaps; nothing else changes. Pure.
 * @throws {RangeError} if the draft has no such step or path
 */
export function fillGaps(draft: DraftWithGaps, values: readonly GapValue[]): DraftWithGaps {
  const steps = draft.steps.map((step) => {
    const own = values.filter(({ stepId }) => stepId === step["id"]);
    return own.length === 0 ? step : own.reduce(fillStep, structuredClone(step));
  });
  const lost = values.find(({ stepId }) => !draft.steps.some(({ id }) => id === stepId));
  if (lost) throw new RangeError(`The draft has no step ${lost.stepId}`);
  return { ...draft, steps };
}

/** The step is a copy of the caller and is changed. */
function fillStep(step: JsonObject, { stepId, keys, value }: GapValue): JsonObject {
  const last = keys.at(-1);
  const holder = keys.slice(0, -1).reduce<JsonValue | undefined>(memberOf, argumentsIn(step));
  const literal = escapeReferences(value);
  if (Array.isArray(holder) && typeof last === "number" && last < holder.length) holder[last] = literal;
  else if (isJsonObject(holder) && typeof last === "string") setOwn(holder, last, literal);
  else throw new RangeError(`Step ${stepId} has no place ${keys.join(".")}`);
  return step;
}

function memberOf(value: JsonValue | undefined, key: string | number): JsonValue | undefined {
  if (Array.isArray(value)) return typeof key === "number" ? value[key] : undefined;
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function argumentsIn(step: JsonObject): JsonValue | undefined {
  const { forEach } = step;
  const call = isJsonObject(forEach) && isJsonObject(forEach["do"]) ? forEach["do"] : step;
  call["arguments"] ??= {};
  return call["arguments"];
}
