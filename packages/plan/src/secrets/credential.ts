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
