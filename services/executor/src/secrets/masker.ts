import type { JsonValue } from "@planwright/plan";
import { REDACTED } from "@planwright/runtime";

/** Takes values of secrets out of what others said. */
export interface Masker {
  /** A text without the values, each replaced by `[redacted]`. */
  text(text: string): string;
  /** The same for all texts and keys of a JSON value, and for numbers that are a secret. What lies deeper than 200 levels is left out. */
  json(value: JsonValue): JsonValue;
}

/** Shorter values are not looked for: they stand in too much that is no secret. */
const MIN_LENGTH = 8;
/** A message may have been cut within a value: so many of its first characters at the end of a text are taken for it. */
const MIN_CUT_LENGTH = 8;
const MAX_DEPTH = 200;
const CUT = /(?:\.\.\.|…)$/;

/** Masks values of at least 8 characters, as they are and as they stand in JSON and in addresses. */
export function createMasker(values: Iterable<string>): Masker {
  const all = [...values].filter((value) => value.length >= MIN_LENGTH);
  // The longest first: one value may be part of another.
  const forms = [...new Set(all.flatMap(formsOf))].sort((one, other) => other.length - one.length);

  function text(given: string): string {
    let clean = given;
    for (const form of forms) clean = clean.replaceAll(form, REDACTED);
    return withoutCutForm(clean);
  }

  function withoutCutForm(given: string): string {
    const end = CUT.exec(given)?.[0] ?? "";
    const said = end === "" ? given : given.slice(0, -end.length);
    for (const form of forms) {
      const head = form.slice(0, MIN_CUT_LENGTH);
      let at = said.indexOf(head, Math.max(0, said.length - form.length));
      while (at !== -1 && !form.startsWith(said.slice(at))) at = said.indexOf(head, at + 1);
      if (at !== -1) return `${said.slice(0, at)}${REDACTED}${end}`;
    }
    return given;
  }

  function json(value: JsonValue, levels = MAX_DEPTH): JsonValue {
    if (typeof value === "string") return text(value);
    if (typeof value === "number") return all.includes(String(value)) ? REDACTED : value;
    if (typeof value !== "object" || value === null) return value;
    if (levels === 0) return REDACTED;
    if (Array.isArray(value)) return value.map((inner) => json(inner, levels - 1));
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [text(key), json(inner, levels - 1)]),
    );
  }

  return forms.length === 0
    ? { text: (given) => given, json: (value) => value }
    : { text, json: (value) => json(value) };
}

function formsOf(value: string): string[] {
  const inJson = JSON.stringify(value).slice(1, -1);
  return [value, inJson, JSON.stringify(inJson).slice(1, -1), encodeURIComponent(value)];
}
