import { expect, test } from "vitest";
import { createMasker } from "./masker.ts";

const PEM = '-----BEGIN KEY-----\n"quoted"\n';

test.each([
  ["a text", "the token is hunter2-hunter2!", "the token is [redacted]!"],
  ["a value inside JSON text", JSON.stringify({ pem: PEM }), '{"pem":"[redacted]"}'],
  [
    "a value inside JSON text in JSON text",
    JSON.stringify({ a: JSON.stringify({ pem: PEM }) }),
    JSON.stringify({ a: '{"pem":"[redacted]"}' }),
  ],
  ["a value inside an address", `/x?t=${encodeURIComponent(PEM)}&u=1`, "/x?t=[redacted]&u=1"],
  ["a message that was cut within a value", "failed with hunter2-hun...", "failed with [redacted]..."],
  ["a value that holds another one", "hunter2-hunter2-more", "[redacted]"],
  ["words shorter than 8 characters", "short hunter2", "short hunter2"],
])("%s is masked", (_, text, expected) => {
  const masker = createMasker(["hunter2-hunter2", "hunter2-hunter2-more", PEM, "short"]);
  expect(masker.text(text)).toBe(expected);
});

test("texts, keys and numbers of JSON are masked at any depth, and the rest stays", () => {
  const masker = createMasker(["hunter2-hunter2", "12345678"]);
  const output = {
    a: [{ "hunter2-hunter2": 1, b: "x hunter2-hunter2" }],
    n: 12_345_678,
    m: 1234,
    z: null,
    t: true,
  };
  expect(masker.json(output)).toEqual({
    a: [{ "[redacted]": 1, b: "x [redacted]" }],
    n: "[redacted]",
    m: 1234,
    z: null,
    t: true,
  });
});
