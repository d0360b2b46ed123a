import { expect, test } from "vitest";
import { isDataKey } from "./observe-output.ts";

const NAMES = [
  "id",
  "_id",
  "createdAt",
  "created_at",
  "content-type",
  "sha256Hash",
  "oauth2Token",
  "base64",
  "line1",
  "ipv4Address",
  "URL",
  "HTTPStatus",
  "MAX_SIZE",
  "$schema",
  "número",
  "名前",
  "isActiveForAllOfTheTenants",
  "numberOfActiveSubscriptionsPerAccountHolder",
];

test.each(NAMES)("%s is the name of a field", (key) => {
  expect(isDataKey(key)).toBe(false);
});

test.each([
  ["an e-mail address", "alice@test.com"],
  ["a handle", "@alice"],
  ["a person's full name", "Alice Smith"],
  ["a UUID", "3f2504e0-4f89-11d3-9a0c-0305e82c3301"],
  ["an object id", "6b01644b71c38750af2453b3"],
  ["hexadecimal digits without a number", "deadbeefcafe"],
  ["a number", "42"],
  ["a date", "2026-05-12"],
  ["a date in words", "may_12_2026"],
  ["a phone number", "+4915112345678"],
  ["a host", "mail.example.com"],
  ["an address", "https://example.com/a"],
  ["a file", "report.pdf"],
  ["a path", "src/index.ts"],
  ["a prefixed id", "user:bob"],
  ["an id of a chat service", "U02ABCXYZ"],
  ["a request id", "req_1795253322_b8dzgomm7f8z2yi7kyqz"],
  ["a key of a provider", "sk-proj-abcdefgh"],
  ["a key of a cloud", "AKIAIOSFODNNEXAMPLE"],
  ["a random token", "kXpQvLmNzTbRwYcA"],
  ["a random token in lower case", "qwertzuiopasdfghjklyxcvbnm"],
  ["nothing", ""],
  ["a sentence", "What is the price of tea?"],
  ["a name that can change a prototype", "__proto__"],
  ["a very long text", "a".repeat(100_000)],
])("%s is data", (_, key) => {
  expect(isDataKey(key)).toBe(true);
});
