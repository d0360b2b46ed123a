/**
 * Forms of well-known credentials: keys of model providers, of our own, of well-known services; tokens in
 * three parts; private keys. Global, and linear in the length of a text.
 */
export const CREDENTIAL_FORMS: readonly RegExp[] = [
  /\bsk-[\w-]{8,}/g,
  /\bpw_[\w-]{16,}/g,
  /\b(?:gh[oprsu]_|github_pat_|xox[abprs]-|glpat-|AKIA|AIza)[\w-]{12,}/g,
  // Only at the beginning of a word: otherwise a long text would be searched again from every "-eyJ".
  /(?<![\w-])eyJ[\w-]{8,4096}\.[\w-]{8,4096}\.[\w-]{0,4096}/g,
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^-]{0,16384}(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?/g,
];
/** What stands in place of a secret. */
export const REDACTED = "[redacted]";

/** How names of secrets end, as the source of a pattern. `tokens` is none: it counts. */
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

/** `user:password@` inside an address, unless references bring them in. */
const PASSWORD_IN_ADDRESS = /:\/\/[^\s/@:]{0,256}:[^\s/@<{$]{1,512}@/;
/** `Bearer …`, `Basic …`: with a digit, for these are words of prose as well. */
const SCHEME = /\b(?:Bearer|Basic) +(?=[\w.~+/=-]{0,4096}\d)[\w.~+/=-]{16,}/i;

const FORMS = [...CREDENTIAL_FORMS, PASSWORD_IN_ADDRESS, SCHEME];

/** True for a text that holds what looks like a credential itself, not only the name of one. */
export function holdsCredential(text: string): boolean {
  return FORMS.some((form) => text.search(form) !== -1);
}
