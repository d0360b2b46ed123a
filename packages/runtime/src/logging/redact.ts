const SECRET_KEY =
  /(?:authorization|password|passwd|passphrase|secret|api[-_]?key|private[-_]?key|token|cookie|credentials?)$/i;
/** `user:password@` inside an address. */
const URL_CREDENTIALS = /:\/\/[^\s/@:]{0,256}:[^\s/@]{1,512}@/g;
/** `Bearer …` and keys of model providers. */
const BEARER = /\bBearer [\w.~+/=-]{8,}/gi;
const PROVIDER_KEY = /\bsk-[\w-]{8,}/g;

const MAX_DEPTH = 10;
/** What stands in place of a secret. */
export const REDACTED = "[redacted]";

/** True for a name whose value must not be logged: `password`, `OPENAI_API_KEY`, `x-api-key`; not `totalTokens`. */
export function isSecretKey(key: string): boolean {
  return SECRET_KEY.test(key);
}

/** A text without credentials in addresses, bearer tokens and provider keys. Linear in its length. */
export function redactText(text: string): string {
  return text
    .replace(URL_CREDENTIALS, `://${REDACTED}@`)
    .replace(BEARER, `Bearer ${REDACTED}`)
    .replace(PROVIDER_KEY, REDACTED);
}

/**
 * A copy without secrets, by name of the key at any depth and by form of the text. Objects with a class of their own
 * (dates, errors) are kept as they are; deeper than 10 levels everything is cut.
 */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return redactText(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth >= MAX_DEPTH) return "[too deep]";
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1));
  if (!isPlain(value)) return value;
  const entries = Object.entries(value).map(([key, inner]) => [
    key,
    isSecretKey(key) && inner !== undefined ? REDACTED : redact(inner, depth + 1),
  ]);
  return Object.fromEntries(entries);
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
