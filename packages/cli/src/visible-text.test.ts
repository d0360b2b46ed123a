import { parseExactJson } from "@planwright/plan";
import { expect, test } from "vitest";
import { oneLine, printableJson, safeLine, visibleText } from "./terminal.ts";

const HOSTILE = [
  ["colours", "\u001b[31mred\u001b[0m", "red"],
  ["a cleared screen", "\u001b[2J\u001b[Hgone", "gone"],
  ["a window title", "\u001b]0;owned\u0007text", "text"],
  ["C1 controls", "a\u009b31mb", "ab"],
  ["a carriage return", "failed\rcompleted", "failed[U+000D]completed"],
  ["backspaces", "no\b\byes", "no[U+0008][U+0008]yes"],
  ["a direction override", "abc\u202edef", "abc[U+202E]def"],
  ["a line separator", "a\u2028b", "a[U+2028]b"],
] as const;

test.each(HOSTILE)("visibleText removes %s", (_, text, visible) => {
  expect(visibleText(text)).toBe(visible);
});

test("visibleText keeps ordinary text, newlines and tabs", () => {
  const text = "Grüße, 世界 🎉\n\tnext line";
  expect(visibleText(text)).toBe(text);
});

test("oneLine joins lines to one and cuts it", () => {
  expect(oneLine("a\nb\r\n\tc")).toBe("a b[U+000D] c");
  expect(oneLine("x".repeat(10), 4)).toBe("xxxx …");
});

test("oneLine cuts between two characters", () => {
  expect(oneLine("🎉🎉🎉", 3)).toBe("🎉 …");
  expect(oneLine(`${" ".repeat(11)}🎉🎉`, 3)).toBe(" …");
  expect(oneLine("a\ud83c", 4)).toBe("a[U+ …");
});

test.each(HOSTILE)("safeLine removes %s and keeps our own colours", (_, text, visible) => {
  expect(
    safeLine(`\u001b[1mCause\u001b[22m ${text.replace("\u001b[31m", "").replace("\u001b[0m", "")}\nb`),
  ).toBe(`\u001b[1mCause\u001b[22m ${visible} b`);
});

test("printableJson writes the same value without characters that control a terminal", () => {
  const value = HOSTILE.map(([, text]) => text);
  const text = printableJson(value, 2);
  expect(JSON.parse(text)).toEqual(value);
  expect(text).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
});

test("printableJson writes numbers with all their digits", () => {
  const text = '{"id":7205759403792793601,"n":2}';
  expect(printableJson(parseExactJson(text))).toBe(text);
});
