import type { ErrorObject } from "ajv/dist/2020.js";
import type { JsonObject } from "../json/json.ts";
import { secretPlaces } from "../secrets/secret.ts";
import { keysOfPointer } from "./compile-schema.ts";

/**
 * Paths in arguments whose values are not known yet, as JSON pointers: `text` when the value will always be a
 * text.
 */
export type OpenPlaces = Map<string, "whole" | "text">;

/** The paths of secrets. Their values are texts; nothing else is known before the call. */
export function openSecrets(args: JsonObject): OpenPlaces {
  return new Map(secretPlaces(args).map(({ keys }) => [pointerOf(keys), "text"]));
}

/** The JSON pointer of a path. */
export function pointerOf(keys: readonly (string | number)[]): string {
  return keys.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** Keywords whose result for an object or list depends on the values inside it. */
const BY_CONTENT = new Set([
  "anyOf",
  "oneOf",
  "not",
  "if",
  "const",
  "enum",
  "contains",
  "uniqueItems",
  "allOf",
]);
const COMPOSED = /\/(?:anyOf|oneOf|not|if|then|else|allOf|contains)(?:\/|$)/;

/** The errors that do not depend on the open values. */
export function judgeable(
  errors: readonly ErrorObject[],
  unknown: Readonly<OpenPlaces>,
  args: JsonObject,
): ErrorObject[] {
  if (unknown.size === 0) return withoutFollowers(errors);
  const holders = new Set<string>();
  for (const place of unknown.keys()) {
    for (let end = place.lastIndexOf("/"); end >= 0; end = place.lastIndexOf("/", end - 1)) {
      holders.add(place.slice(0, end));
      if (end === 0) break;
    }
  }
  const isOpen = (error: ErrorObject): boolean => {
    const kind = unknown.get(error.instancePath);
    if (kind === "whole") return true;
    if (kind === "text") return error.keyword !== "type" || COMPOSED.test(error.schemaPath);
    return holders.has(error.instancePath) && BY_CONTENT.has(error.keyword);
  };
  const openAbove = errors.filter((error) => isOpen(error) && holders.has(error.instancePath));
  const prefixes = new Set(openAbove.map((error) => error.instancePath));
  return withoutFollowers(errors.filter((error) => !isOpen(error) && !isBranchOf(error, prefixes, args)));
}

/**
 * True for an error of one branch when it is still open which branch applies: such an error means nothing.
 */
function isBranchOf(error: ErrorObject, open: ReadonlySet<string>, args: JsonObject): boolean {
  if (open.size === 0) return false;
  if (!COMPOSED.test(error.schemaPath) && !/^#\/(?:\$defs|definitions)\//.test(error.schemaPath))
    return false;
  const depth = keysOfPointer(error.instancePath, args).length;
  let path = error.instancePath;
  for (let level = 0; level <= depth; level++) {
    if (open.has(path)) return true;
    path = path.slice(0, Math.max(path.lastIndexOf("/"), 0));
  }
  return false;
}

/** Removes the error that Ajv adds for `if`: the errors of `then` or `else` are more specific. */
function withoutFollowers(errors: readonly ErrorObject[]): ErrorObject[] {
  return errors.filter(({ keyword }) => keyword !== "if");
}
