/**
 * Secrets in plans: an argument that is exactly the text `secret://name` means a value that the plan never
 * contains. The executor inserts the value when it makes the call. A text that a reference inserts never
 * counts as a secret, because tools must not be able to request one.
 */
import { z } from "zod";
import { type JsonObject, placeKeys, visitTexts } from "../json/json.ts";

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

/**
 * Forms of well-known credentials: keys of model providers, our own keys, keys of well-known services; tokens
 * in three parts; private keys. The patterns are global, and linear in the length of a text.
 */
export const CREDENTIAL_FORMS: readonly RegExp[] = [
  /\bsk-[\w-]{8,}/g,
  /\bpw_[\w-]{16,}/g,
  /\b(?:gh[oprsu]_|github_pat_|xox[abprs]-|glpat-|AKIA|AIza)[\w-]{12,}/g,
  // Only at the beginning of a word: otherwise a long text would be scanned again from every "-eyJ".
  /(?<![\w-])eyJ[\w-]{8,4096}\.[\w-]{8,4096}\.[\w-]{0,4096}/g,
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^-]{0,16384}(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?/g,
];
/** The text that replaces a secret. */
export const REDACTED = "[redacted]";

/**
 * Endings of names of secrets, as the source of a pattern. `tokens` is not included, because it is a count.
 */
export const SECRET_NAME =
  "(?:authorization|passwords?|passwd|pwd|passphrase|secrets?|(?:api|access|private|signing|encryption)[-_]?keys?|token|cookies?|credentials?)";

const SECRET_KEY = new RegExp(`${SECRET_NAME}$`, "i");

/**
 * True for a name whose value must not be shown: `password`, `OPENAI_API_KEY`, `x-api-key`; not
 * `totalTokens`.
 */
export function isSecretKey(key: string): boolean {
  return SECRET_KEY.test(key);
}

/** `user:password@` inside an address, except when references insert them. */
const PASSWORD_IN_ADDRESS = /:\/\/[^\s/@:]{0,256}:[^\s/@<{$]{1,512}@/;
/** `Bearer …`, `Basic …`: only with a digit, because these words also occur in prose. */
const SCHEME = /\b(?:Bearer|Basic) +(?=[\w.~+/=-]{0,4096}\d)[\w.~+/=-]{16,}/i;

const FORMS = [...CREDENTIAL_FORMS, PASSWORD_IN_ADDRESS, SCHEME];

/** True for a text that contains a probable credential, not only the name of one. */
export function holdsCredential(text: string): boolean {
  return FORMS.some((form) => text.search(form) !== -1);
}
