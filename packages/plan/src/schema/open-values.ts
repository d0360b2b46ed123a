import type { ErrorObject } from "ajv/dist/2020.js";
import type { JsonObject } from "../json/json.ts";
import { secretPlaces } from "../secrets/secret.ts";
import { keysOfPointer } from "./compile-schema.ts";

/**
 * Places in arguments whose values are not known yet, by JSON pointer: `text` where it will be a text in any
 * case.
 */
export type OpenPlaces = Map<string, "whole" | "text">;

/** The places of secrets. Their values are texts, of which nothing else is known before the call. */
export function openSecrets(args: JsonObject): OpenPlaces {
  return new Map(secretPlaces(args).map(({ keys }) => [pointerOf(keys), "text"]));
}

/** The JSON pointer to a place. */
export function pointerOf(keys: readonly (string | number)[]): string {
  return keys.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** Keywords whose answer about an object or list depends on values inside it. */
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

/** The errors that stay errors whatever the open values turn out to be. */
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

/** An error of one branch under a choice that is still open says nothing. */
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

/** Ajv adds one error for `if` beside those of `then` or `else`; the latter say more. */
function withoutFollowers(errors: readonly ErrorObject[]): ErrorObject[] {
  return errors.filter(({ keyword }) => keyword !== "if");
}
