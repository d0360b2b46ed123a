import { expect, test } from "vitest";
import { visibleText } from "./visible-text.ts";

test.each([
  ["a direction override", "pay\u202egnp.exe", "pay[U+202E]gnp.exe"],
  ["a zero-width space", "ad\u200bmin", "ad[U+200B]min"],
  ["a tag character", "ok\u{e0041}", "ok[U+E0041]"],
  ["a carriage return", "failed\rcompleted", "failed[U+000D]completed"],
  ["a line separator", "a\u2028b", "a[U+2028]b"],
  ["a filler that looks like a space", "a\u3164b", "a[U+3164]b"],
  ["half of a character", "a\ud83d", "a[U+D83D]"],
  ["a joiner between a letter and a digit", "a\u200d1", "a[U+200D]1"],
])("%s is shown by its code", (_name, text, shown) => {
  expect(visibleText(text)).toBe(shown);
});

test.each(["Grüße, 世界 🎉\n\tnext line", "עברית", "می‌خواهم", "👩‍👩‍👧‍👦 👩🏽‍💻 ❤️‍🔥"])(
  "%j is shown as it is: joiners inside emoji and words belong to them",
  (text) => {
    expect(visibleText(text)).toBe(text);
  },
);
