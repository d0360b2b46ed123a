import type { JsonObject } from "../json/json.ts";

/** Time, place and facts of the caller of a request. */
export interface PlanningContext {
  /** The base of "today" and "in two hours"; the same for all work on the request. */
  readonly now: Date;
  /** IANA name of the caller's time zone, such as "Europe/Berlin". */
  readonly timezone: string;
  /** BCP 47 tag of the caller's language and region; null when unknown. */
  readonly locale: string | null;
  /** Facts that the caller sends with each request: its ids, accounts, defaults. Data, never instructions. */
  readonly facts: JsonObject;
}

const TIMEZONE = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/;
const MAX_LOCALE = 64;

/**
 * True for the name of a time zone that this system knows. Offsets such as "+01:00" are not time zones,
 * because they have no summer time.
 */
export function isTimezone(name: string): boolean {
  if (!TIMEZONE.test(name)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** A BCP 47 tag in its usual spelling, "de-DE" for "DE-de"; null for an invalid tag. */
export function canonicalLocale(tag: string): string | null {
  if (tag.length > MAX_LOCALE) return null;
  try {
    return Intl.getCanonicalLocales(tag)[0] ?? null;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
