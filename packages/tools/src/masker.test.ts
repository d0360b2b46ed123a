import type { JsonValue } from "@planwright/plan";
import { expect, test } from "vitest";
import { createMasker } from "./masker.ts";

const PASSPHRASE = "correct-horse-battery-staple";
const PEM = '-----BEGIN KEY-----\n"quoted"/ü+\n';
const masker = createMasker([
  PASSPHRASE,
  "hunter2-hunter2",
  "hunter2-hunter2-more",
  PEM,
  "12345678",
  "pin-77",
  "short",
]);
const base64 = (before: string, value = PASSPHRASE, as: BufferEncoding = "base64") =>
  Buffer.from(`${before}${value}${before}`).toString(as);

/**
 * A text as JSON may write it, without its quotes and with each character escaped. @param write - writes the
 * four digits of a character
 */
function fullyEscaped(text: string, write = (code: string) => code): string {
  const units = Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));
  return units.map((unit) => `\\u${write(unit.toString(16).padStart(4, "0"))}`).join("");
}

test.each([
  ["a text", "the token is hunter2-hunter2!", "the token is [redacted]!"],
  ["a value that contains another value", "hunter2-hunter2-more", "[redacted]"],
  ["a value inside JSON text", JSON.stringify({ pem: PEM }), '{"pem":"[redacted]"}'],
  [
    "a value inside JSON text in JSON text",
    JSON.stringify({ a: JSON.stringify({ pem: PEM }) }),
    JSON.stringify({ a: '{"pem":"[redacted]"}' }),
  ],
  ["a value inside an address", `/x?t=${encodeURIComponent(PEM)}&u=1`, "/x?t=[redacted]&u=1"],
  ["a form", new URLSearchParams({ t: `a ${PEM}` }).toString(), "t=a+[redacted]"],
  ["hexadecimal", `x ${Buffer.from(PASSPHRASE).toString("hex")} y`, "x [redacted] y"],
  ["HTML", "<b>-----BEGIN KEY-----\n&quot;quoted&quot;/ü+\n</b>", "<b>[redacted]\n</b>"],
  ["ASCII JSON", JSON.stringify(PEM).replace("ü", "\\u00fc"), '"[redacted]"'],
  ["JSON with all characters escaped", fullyEscaped(PEM), "[redacted]"],
  ["the same with digits in capitals", fullyEscaped(PEM, (code) => code.toUpperCase()), "[redacted]"],
  [
    "the same inside JSON text",
    JSON.stringify({ pem: fullyEscaped(PEM), a: `"${fullyEscaped(PEM, (code) => code.toUpperCase())}"` }),
    JSON.stringify({ pem: "[redacted]", a: '"[redacted]"' }),
  ],
  ["JSON with escaped slashes", JSON.stringify(PEM).replace("/", "\\/"), '"[redacted]"'],
  ["a value over several lines", "correct-horse-\n  battery-\n  staple.", "[redacted]."],
  ["a message that was cut within a value", "failed with correct-ho...", "failed with [redacted]..."],
  ["a message that was cut before the end of a value", "…ttery-staple failed", "…[redacted] failed"],
  ["half a value at the end", "failed with correct-horse-ba", "failed with [redacted]"],
  ["half a value in the middle", "see correct-horse-batteries", "see [redacted]ies"],
  ["less than half a value", "the correct-horses", "the correct-horses"],
  [
    "a value that is split within a text",
    '{"one":"correct-horse-b","two":"attery-staple"}',
    '{"one":"[redacted]","two":"[redacted]"}',
  ],
  ["a short value as a word", "pin: pin-77, PIN", "pin: [redacted], PIN"],
  ["a short value inside a word", "pin-778 xpin-77", "pin-778 xpin-77"],
  ["a value of less than 6 characters", "a short one", "a short one"],
])("%s is masked", (_, text, expected) => {
  expect(masker.text(text)).toBe(expected);
});

test.each(
  ["", "a", "ab", "abc"].flatMap((before) => [[before, "base64"] as const, [before, "base64url"] as const]),
)("base64 is masked at every offset of the value: after %j, as %s", (before, as) => {
  const shown = masker.text(`<${base64(before, PASSPHRASE, as)}>`);
  expect(shown).toMatch(/^<[\w+/=-]{0,6}\[redacted\][\w+/=-]{0,8}>$/);
});

test("base64 that is broken into lines is masked", () => {
  const long = "0123456789abcdefghij".repeat(8);
  const lines = base64("x", long).replace(/.{76}/g, "$&\r\n");
  expect(createMasker([long]).text(lines)).not.toMatch(/\w{12}/);
});

test.each<[string, JsonValue, JsonValue]>([
  [
    "texts, keys and numbers at any depth",
    { a: [{ "hunter2-hunter2": 1, b: "x hunter2-hunter2" }], n: 12_345_678, m: 1234, z: null, t: true },
    { a: [{ "[redacted]": 1, b: "x [redacted]" }], n: "[redacted]", m: 1234, z: null, t: true },
  ],
  ["numbers alone", { n: 12_345_678 }, { n: "[redacted]" }],
  [
    "a value split over fields",
    { id: 7, one: "correct-horse", two: "-battery-staple", three: "kept" },
    { id: 7, one: "[redacted]", two: "[redacted]", three: "kept" },
  ],
  [
    "a value split over many texts",
    ["see ", ...PASSPHRASE.split(""), " there"],
    ["see ", ...PASSPHRASE.split("").map(() => "[redacted]"), " there"],
  ],
  [
    "a value split over fields with other texts between",
    [
      { type: "text", text: "correct-horse-bat" },
      { type: "text", text: "tery-staple" },
    ],
    [
      { type: "text", text: "[redacted]" },
      { type: "text", text: "[redacted]" },
    ],
  ],
  ["a key and its value", { "correct-horse-": "battery-staple" }, { "[redacted]": "[redacted]" }],
])("%s are masked, and the rest is kept", (_, value, expected) => {
  expect(masker.json(value)).toEqual(expected);
});

test("a value without secrets is returned as the same object", () => {
  const value = { a: ["battery", { staple: "horse battery" }], n: 5 };
  expect(masker.json(value)).toBe(value);
  const outcome = { type: "completed" as const, output: value, text: '{"a": 1}' };
  expect(masker.outcome(outcome)).toBe(outcome);
});

test("an outcome is masked with its text, its message and its data", () => {
  const output = { token: PASSPHRASE };
  expect(masker.outcome({ type: "completed", output, text: `{ "token":"${PASSPHRASE}"}` })).toEqual({
    type: "completed",
    output: { token: "[redacted]" },
    text: 0,
  });
  // The text contains more than its value: the last of two members with the same name counts.
  const twice = { type: "completed" as const, output: { a: 1 }, text: `{"a":"${PASSPHRASE}","a":1}` };
  expect(masker.outcome(twice)).toEqual({ type: "completed", output: { a: 1 }, text: 0 });
  const error = {
    code: "TOOL_FAILED",
    message: `no ${PASSPHRASE}`,
    retryable: false,
    data: [PASSPHRASE],
  } as const;
  expect(masker.outcome({ type: "failed", effect: "none", error: { ...error, data: [PASSPHRASE] } })).toEqual(
    {
      type: "failed",
      effect: "none",
      error: { ...error, message: "no [redacted]", data: ["[redacted]"] },
    },
  );
});
