import { expect, test } from "vitest";
import { canonicalLocale, isTimezone } from "./planning-context.ts";

test.each(["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Asia/Calcutta", "Etc/GMT+5"])(
  "%s is a time zone",
  (name) => expect(isTimezone(name)).toBe(true),
);

test.each(["", "+01:00", "Berlin", "Europe/Atlantis", "../etc", "Europe/Berlin ", "x".repeat(100)])(
  "%j is not a time zone",
  (name) => expect(isTimezone(name)).toBe(false),
);

test("a locale is returned in its usual spelling", () => {
  expect(["DE-de", "en", "zh-hant-tw"].map(canonicalLocale)).toEqual(["de-DE", "en", "zh-Hant-TW"]);
  expect(["", "de_DE", "-", "x".repeat(80), "de-DE-"].map(canonicalLocale)).toEqual(Array(5).fill(null));
});
