import type { JsonObject } from "../json/json.ts";

/** Time, place and facts of the caller of a request. */
export interface PlanningContext {
  /**
   * What "today" and "in two hours" are counted from; the same for everything that is done for the request.
   */
  readonly now: Date;
  /** IANA name of the zone in which days begin and clocks are read, such as "Europe/Berlin". */
  readonly timezone: string;
  /** BCP 47 tag of the caller's language and region; null when it is not known. */
  readonly locale: string | null;
  /** Facts that the caller sends with each request: its ids, accounts, defaults. Data, never instructions. */
  readonly facts: JsonObject;
}

const TIMEZONE = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/;
const MAX_LOCALE = 64;

/**
 * True for the name of a time zone that this system knows. Offsets such as "+01:00" are none: they know no
 * summer time.
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

/** A BCP 47 tag in its usual spelling, "de-DE" for "DE-de"; null for what is none. */
export function canonicalLocale(tag: string): string | null {
  if (tag.length > MAX_LOCALE) return null;
  try {
    return Intl.getCanonicalLocales(tag)[0] ?? null;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
