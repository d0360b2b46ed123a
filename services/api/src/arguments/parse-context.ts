import { canonicalLocale, isJsonObject, isTimezone, type JsonObject, type JsonValue } from "@planwright/plan";
import type { GivenContext } from "@planwright/store";
import { BadInputError } from "../errors/api-error.ts";
import { checkJsonShape, requireFit } from "./json-patch.ts";
import { isWellFormed, quoted } from "./text.ts";

/** Time and place of the caller, as a client gives them. Default: the time of acceptance, in UTC. */
export interface ContextInput {
  now?: Date | null | undefined;
  timezone?: string | null | undefined;
  locale?: string | null | undefined;
  facts?: unknown;
}

/** Largest facts accepted, as JSON in UTF-8. */
export const MAX_FACTS_BYTES = 16_384;
/** Years of four digits, within a range that is useful for plans. */
const YEARS = { first: 1970, last: 2999 };

/** The context that a client gave; undefined without any. @throws {BadInputError} */
export function parseContext(input: ContextInput | null | undefined): GivenContext | undefined {
  const { now = null, timezone = null, locale = null, facts = null } = input ?? {};
  const given: GivenContext = {
    ...(now === null ? {} : { now: parseNow(now) }),
    ...(timezone === null ? {} : { timezone: parseTimezone(timezone) }),
    ...(locale === null ? {} : { locale: parseLocale(locale) }),
    ...(facts === null ? {} : { facts: parseFacts(facts) }),
  };
  return Object.keys(given).length > 0 ? given : undefined;
}

function parseNow(now: Date): Date {
  const year = now.getUTCFullYear();
  if (year >= YEARS.first && year <= YEARS.last) return now;
  throw refused(
    "now",
    `The year ${year} is not supported`,
    `Give a time in the years ${YEARS.first} to ${YEARS.last}.`,
  );
}

function parseTimezone(name: string): string {
  if (isTimezone(name)) return name;
  throw refused(
    "timezone",
    `Not a time zone: ${quoted(name)}`,
    'Give an IANA name, such as "Europe/Berlin" or "UTC".',
  );
}

function parseLocale(tag: string): string {
  const locale = canonicalLocale(tag);
  if (locale !== null) return locale;
  throw refused("locale", `Not a locale: ${quoted(tag)}`, 'Give a BCP 47 tag, such as "de-DE" or "en".');
}

function parseFacts(facts: unknown): JsonObject {
  checkJsonShape("context.facts", facts);
  if (!isJsonObject(facts)) {
    throw refused("facts", "The facts are not a JSON object", 'Give an object, such as {"userId": "u_17"}.');
  }
  requireFit("context.facts", facts);
  const sizeBytes = Buffer.byteLength(JSON.stringify(facts));
  if (sizeBytes > MAX_FACTS_BYTES) {
    throw refused(
      "facts",
      `The facts have ${sizeBytes} bytes; ${MAX_FACTS_BYTES} are accepted`,
      "Leave out what this request does not need.",
    );
  }
  if (hasBrokenText(facts)) {
    throw refused(
      "facts",
      "The facts contain text that is not well-formed",
      "Send it as UTF-8 without NUL characters.",
    );
  }
  return facts;
}

/** True when any text in the value is not well-formed. */
function hasBrokenText(value: JsonValue): boolean {
  if (typeof value === "string") return !isWellFormed(value);
  if (Array.isArray(value)) return value.some(hasBrokenText);
  return isJsonObject(value) && Object.entries(value).some((entry) => entry.some(hasBrokenText));
}

const refused = (field: string, message: string, remedy: string) =>
  new BadInputError(`context.${field}`, message, remedy);
