import type { Parameter } from "@planwright/models/words";
import type { JsonValue } from "@planwright/plan";
import type { Argument } from "./argument.ts";

/** What a clause gives one call. */
export interface BoundObject {
  values: Map<string, JsonValue>;
  /** By parameter: what the sentence says there, though it cannot be the value. */
  unusable: Map<string, string>;
  /** The text that "about" brought: it also serves as title where one is required and none is given. */
  topic: string | null;
  /** What the sentence calls it. */
  name: string | null;
  /** A text that is there without quotes, and without a word that brings it in. */
  bareText: string | null;
  /** Values that are for the one required parameter left in the end. */
  pending: NonNullable<Argument["pending"]>[];
  /** True when the look of a value, or a link, shows that the tool is meant. */
  isTyped: boolean;
}

/** An object of which no more is known than what is meant for all. */
export const newObject = (common: ReadonlyMap<string, JsonValue> = new Map()): BoundObject => ({
  values: new Map(common),
  unusable: new Map(),
  topic: null,
  name: null,
  bareText: null,
  pending: [],
  isTyped: false,
});

/** True when the sentence says something for a parameter, usable or not. */
export const hasParameter = (object: BoundObject, { name }: Parameter) =>
  object.values.has(name) || object.unusable.has(name);

/**
 * "services api, web and worker in staging": what is said once after the last of several names is meant for
 * all of them, unless one of the others has values of its own. An address belongs to one.
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
