import { expect, test } from "vitest";
import { secretNameOf, secretPlaces } from "../document/secret.ts";
import { validateArguments } from "./validate-arguments.ts";

test.each([
  ["secret://crm-key", "crm-key"],
  ["secret://a", "a"],
  [`secret://${"a".repeat(128)}`, "a".repeat(128)],
  [`secret://${"a".repeat(129)}`, undefined],
  ["secret://../etc/passwd", undefined],
  ["secret://a/b", undefined],
  ["secret://.a", undefined],
  ["secret://a.", undefined],
  ["secret://a ", undefined],
  ["secret://a\n", undefined],
  [" secret://a", undefined],
  ["SECRET://a", undefined],
  ["secret://__proto__", undefined],
])("%j names %j", (text, name) => expect(secretNameOf(text)).toBe(name));

test("paths of secrets are found at any depth, in document order", () => {
  const args = { a: [{ token: "secret://x" }], "b.c": "secret://y", d: "with secret://z", e: "<<s.t>>" };
  expect(secretPlaces(args)).toEqual([
    { keys: ["a", 0, "token"], name: "x" },
    { keys: ["b.c"], name: "y" },
  ]);
});

test("resolved arguments with a secret are checked only for its type: it is a text", () => {
  const text = { type: "string", pattern: "^sk-", minLength: 100 };
  const inputSchema = {
    type: "object",
    properties: {
      key: text,
      either: { anyOf: [text, { type: "null" }] },
      other: text,
      count: { type: "integer" },
    },
  };
  const codes = (args: Record<string, string>) =>
    validateArguments({ name: "t", inputSchema }, args).map(({ code, path }) => `${code} ${path}`);
  expect(codes({ key: "secret://k", either: "secret://k" })).toEqual([]);
  expect(codes({ key: "secret://k", other: "x", count: "secret://k" })).toEqual([
    expect.stringContaining("arguments.other"),
    expect.stringContaining("arguments.other"),
    "ARGUMENT_TYPE arguments.count",
  ]);
});
