/**
 * Secrets in plans: an argument that is exactly the text `secret://name` means a value that the plan never
 * contains. The executor inserts the value when it makes the call. A text that a reference inserts never
 * counts as a secret, because tools must not be able to request one.
 */
import { z } from "zod";
import type { JsonObject } from "../json/json.ts";
import { placeKeys, visitTexts } from "../json/map-json.ts";

const NAME = "[A-Za-z0-9](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9])?";
/** The beginning of every mention of a secret. */
export const SECRET_PREFIX = "secret://";

const WHOLE = new RegExp(`^${SECRET_PREFIX}(${NAME})$`);
const MENTION = new RegExp(`${SECRET_PREFIX}(${NAME})?`, "g");

/** Name of a secret, such as `crm-key`: 1 to 128 of A-Z a-z 0-9 . _ -, a letter or digit at both ends. */
export const SecretNameSchema = z
  .string()
  .regex(
    new RegExp(`^${NAME}$`),
    "must be 1 to 128 of A-Z a-z 0-9 . _ -, with a letter or digit at both ends",
  );

/** The path at which a secret is inserted into the arguments of a call. */
export interface SecretPlace {
  /** Path from the arguments to the value. */
  readonly keys: readonly (string | number)[];
  readonly name: string;
}

/** The name in a text that is exactly `secret://name`; undefined for every other text. */
export function secretNameOf(text: string): string | undefined {
  return text.startsWith(SECRET_PREFIX) ? WHOLE.exec(text)?.[1] : undefined;
}

/** The secrets that a text mentions anywhere, in order; an empty text for a mention without a valid name. */
export function secretsMentioned(text: string): string[] {
  if (!text.includes(SECRET_PREFIX)) return [];
  return [...text.matchAll(MENTION)].map(([, name]) => name ?? "");
}

/** The paths of secrets in the arguments of a plan, in document order. */
export function secretPlaces(args: JsonObject): SecretPlace[] {
  const places: SecretPlace[] = [];
  visitTexts(args, (text, place) => {
    const name = secretNameOf(text);
    if (name !== undefined) places.push({ keys: placeKeys(place), name });
  });
  return places;
}
