import type { Parameter } from "@planwright/models/words";
import type { JsonValue } from "@planwright/plan";
import type { Argument } from "./argument.ts";

/** The values that a clause gives for one call. */
export interface BoundObject {
  values: Map<string, JsonValue>;
  /** By parameter: words of the sentence that cannot be its value. */
  unusable: Map<string, string>;
  /** The text after "about": it is also the title when a title is required and none is given. */
  topic: string | null;
  /** The name of the object in the sentence. */
  name: string | null;
  /** A text without quotes, and without a word that introduces it. */
  bareText: string | null;
  /** Values for the one required parameter that has no value after all rules. */
  pending: NonNullable<Argument["pending"]>[];
  /** True when the form of a value, or a link, shows that the tool is meant. */
  isTyped: boolean;
}

/** A new object, with only the values that are for all objects. */
export const newObject = (common: ReadonlyMap<string, JsonValue> = new Map()): BoundObject => ({
  values: new Map(common),
  unusable: new Map(),
  topic: null,
  name: null,
  bareText: null,
  pending: [],
  isTyped: false,
});

/** True when the sentence has words for a parameter, usable or not. */
export const hasParameter = (object: BoundObject, { name }: Parameter) =>
  object.values.has(name) || object.unusable.has(name);

/**
 * "services api, web and worker in staging": values after the last of several names are for all of them,
 * unless another object has values other than its name. An address belongs to one object.
 */
export function share(
  objects: readonly BoundObject[],
  {
    naming,
    common,
    parameters,
  }: { naming: Parameter | null; common: ReadonlyMap<string, JsonValue>; parameters: readonly Parameter[] },
): BoundObject[] {
  const last = objects.at(-1);
  const others = objects.slice(0, -1);
  const isOnlyName = ({ values, pending }: BoundObject) =>
    pending.length === 0 && [...values.keys()].every((name) => name === naming?.name || common.has(name));
  if (!last || naming === null || others.length === 0 || !others.every(isOnlyName)) return [...objects];
  const shared = parameters.filter(
    ({ name, shape }) =>
      name !== naming.name && shape !== "email" && shape !== "url" && last.values.has(name),
  );
  return objects.map((object) => {
    if (object === last) return last;
    const values = new Map(object.values);
    for (const { name } of shared) values.set(name, last.values.get(name) ?? null);
    return { ...object, values, pending: last.pending, isTyped: object.isTyped || last.isTyped };
  });
}
