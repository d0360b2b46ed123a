import { CREDENTIAL_FORMS, SECRET_NAME as NAME, REDACTED } from "@planwright/plan";

/** Names of secrets, and references to outputs of other steps; neither is a secret itself. */
const NO_SECRET =
  /^(?:secret:\/\/[\w./-]{1,256}|<<[^<>]{1,512}>>|\{\{[^{}]{1,512}\}\}|\$ref:[\w.[\]*-]{1,512})$/;

/** `user:password@`, or `token@`, inside an address. */
const URL_CREDENTIALS = /:\/\/(?:[^\s/@:]{0,256}:[^\s/@]{1,512}|[^\s/@:?#"'<>]{1,256})@/g;
/** `Bearer …`, `Basic …`. */
const SCHEME = /\b(Bearer|Basic) +(?!\[redacted\])[\w.~+/=-]{8,}/gi;
/** `"password": "…"` inside prose, as in a prompt. */
const JSON_FIELD = new RegExp(`("[\\w.-]{0,64}${NAME}"\\s{0,64}:\\s{0,64})"((?:[^"\\\\]|\\\\.)*)"?`, "gi");
/** The same in JSON that is a string inside JSON: `\"password\":\"…\"`. */
const ESCAPED_FIELD = new RegExp(
  `(\\\\"[\\w.-]{0,64}${NAME}\\\\"\\s{0,64}:\\s{0,64})\\\\"([^"]*?)(?:\\\\"|"|$)`,
  "gi",
);
/** `api_key=…` in addresses, settings and command lines. */
const PAIR = new RegExp(
  `((?<![\\w.-])[\\w.-]{0,64}${NAME}=)(?!\\[redacted\\])([^\\s&;,"'\\\\]{1,4096})`,
  "gi",
);

/**
 * True for a text that names a secret, or refers to another step's output, and contains none:
 * `secret://crm-key`.
 */
export function isSecretName(text: string): boolean {
  return NO_SECRET.test(text);
}

/**
 * A text without credentials in addresses, bearer tokens, well-known forms of keys, and the values of fields
 * with secret names. Names such as `secret://crm-key` stay. Takes time linear in the length.
 */
export function redactText(text: string): string {
  let clean = text
    .replace(URL_CREDENTIALS, `://${REDACTED}@`)
    .replace(SCHEME, (_, scheme: string) => `${scheme} ${REDACTED}`);
  for (const form of CREDENTIAL_FORMS) clean = clean.replace(form, REDACTED);
  return clean
    .replace(ESCAPED_FIELD, (whole, name: string, value: string) =>
      isSecretName(value) ? whole : `${name}\\"${REDACTED}\\"`,
    )
    .replace(JSON_FIELD, (whole, name: string, value: string) =>
      isSecretName(value) ? whole : `${name}"${REDACTED}"`,
    )
    .replace(PAIR, (whole, name: string, value: string) =>
      isSecretName(value) ? whole : `${name}${REDACTED}`,
    );
}
