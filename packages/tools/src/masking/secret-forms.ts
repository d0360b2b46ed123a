/** Shorter values are not masked: they are part of too many texts that are not secret. */
export const MIN_SECRET_LENGTH = 6;
/** Values below this length are only found as whole words, and in no other form. */
export const MIN_FORM_LENGTH = 8;

const HTML: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/**
 * The forms in which a value may be repeated: unchanged; in JSON (also encoded twice, with escaped slashes,
 * in ASCII only, fully escaped, and fully escaped twice); in addresses and forms; in HTML; in hexadecimal; in
 * both alphabets of base64 at each of three alignments. White space is removed, because line breaks in base64
 * would add some.
 */
export function formsOf(value: string): string[] {
  const short = compact(value);
  if (short.length < MIN_SECRET_LENGTH) return [];
  if (short.length < MIN_FORM_LENGTH) return [short];
  const bytes = Buffer.from(value, "utf8");
  const inJson = JSON.stringify(value).slice(1, -1);
  // A lone surrogate cannot be encoded like this; in UTF-8 it is a replacement character.
  const inAddress = encodeURIComponent(bytes.toString("utf8"));
  const hex = bytes.toString("hex");
  const forms = [
    value,
    inJson,
    JSON.stringify(inJson).slice(1, -1),
    inJson.replaceAll("/", String.raw`\/`),
    inJson.replace(/[^ -~]/g, escaped),
    ...[escaped, escapedInCapitals].flatMap((escape) => {
      const escapedValue = value.replace(/[^]/g, escape);
      return [escapedValue, escapedValue.replaceAll("\\", String.raw`\\`)];
    }),
    inAddress,
    inAddress.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    inAddress.replaceAll("%20", "+"),
    value.replace(/[&<>"']/g, (sign) => HTML[sign] ?? sign),
    hex,
    hex.toUpperCase(),
    ...base64Of(bytes),
  ];
  return [...new Set(forms.map(compact))].filter((form) => form.length >= MIN_FORM_LENGTH);
}

/** A text without white space. */
export function compact(text: string): string {
  return text.replace(/\s+/g, "");
}

function escaped(unit: string): string {
  return String.raw`\u${codeOf(unit)}`;
}

function escapedInCapitals(unit: string): string {
  return String.raw`\u${codeOf(unit).toUpperCase()}`;
}

function codeOf(unit: string): string {
  return unit.charCodeAt(0).toString(16).padStart(4, "0");
}

/** The base64 digits that these bytes alone determine, for each alignment. */
function base64Of(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const shifted = Buffer.concat([Buffer.alloc(before), bytes]);
    const from = Math.ceil((before * 8) / 6);
    const digits = shifted.toString("base64").slice(from, Math.floor((shifted.length * 8) / 6));
    return [digits, digits.replaceAll("+", "-").replaceAll("/", "_")];
  });
}
