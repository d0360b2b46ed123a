import { expect, test } from "vitest";
import { redact, redactInSteps, redactText } from "./redact.ts";

test.each([
  ["a bearer token", "sent Bearer hidden.token.value", "sent Bearer [redacted]"],
  ["basic credentials", "authorization was Basic aGlkZGVuOmhpZGRlbg==", "authorization was Basic [redacted]"],
  ["an API key of Planwright", "with pw_hiddenhidden0123456789 it", "with [redacted] it"],
  ["a provider's key", "key sk-hidden-0123456789", "key [redacted]"],
  ["a token in three parts", "got eyJhbGciOiJI.eyJoaWRkZW4i.hidden-hidden", "got [redacted]"],
  ["user and password of an address", "mongodb://ann:hidden@host/db", "mongodb://[redacted]@host/db"],
  ["a token as the user of an address", "https://hidden@host/x", "https://[redacted]@host/x"],
  ["a token in a query string", "GET /x?access_token=hidden&page=2", "GET /x?access_token=[redacted]&page=2"],
  ["a setting", "PLANWRIGHT_TOKEN=hidden npx x", "PLANWRIGHT_TOKEN=[redacted] npx x"],
  ["a field in prose", 'Plan: {"password": "hid\\"den", "a": 1}', 'Plan: {"password": "[redacted]", "a": 1}'],
  [
    "a field of JSON in JSON in prose",
    'x {"a":"{\\"token\\":\\"hidden\\"}"}',
    'x {"a":"{\\"token\\":\\"[redacted]\\"}"}',
  ],
  ["a private key", "-----BEGIN PRIVATE KEY-----\nhidden\n-----END PRIVATE KEY-----", "[redacted]"],
])("%s inside a text is redacted", (_, text, expected) => {
  expect(redactText(text)).toBe(expected);
  expect(redactText(expected)).toBe(expected);
});

test.each([
  "secret://crm-key",
  "use password=secret://crm-key",
  '{"password":"secret://crm-key"}',
  'then {"token": "<<login.token>>"}',
  "https://host/path?email=ann@test.com",
  "inputTokens=5 and req_1700000000_abcdefghijklmnopqrst",
  "Unexpected token } in JSON",
])("%s is kept", (text) => expect(redactText(text)).toBe(text));

test("secrets inside JSON texts are redacted at any depth, and JSON texts without secrets are not changed", () => {
  const inner = JSON.stringify({ apiKey: "hidden", kept: 1 });
  const text = JSON.stringify({ arguments: inner });
  const clean = String(redact(text));
  expect(clean).not.toContain("hidden");
  expect(JSON.parse(JSON.parse(clean).arguments)).toEqual({ apiKey: "[redacted]", kept: 1 });
  expect(redact(' { "a" : 1 } ')).toBe(' { "a" : 1 } ');
});

test("names of secrets and references are kept as values of secret keys", () => {
  const value = { password: "secret://crm", token: "<<login.token>>", credentials: null };
  expect(redact(value)).toEqual(value);
  expect(redact({ password: "secret://crm and more" })).toEqual({ password: "[redacted]" });
});

test("the schema of a secret argument is kept, its values are redacted", () => {
  const schema = { properties: { password: { type: "string", minLength: 8, default: "hidden" } } };
  expect(redact(schema)).toEqual({
    properties: { password: { type: "string", minLength: 8, default: "[redacted]" } },
  });
  expect(redact({ properties: { password: "hidden" } })).toEqual({ properties: { password: "[redacted]" } });
});

test.each([
  "eyJ-",
  "eyJaaaaaaaa-",
  "sk-",
  "://a:",
  "Bearer ",
  '\\"token\\":\\"',
  '"token": "',
  "token=",
  "a.token",
])("a mebibyte of %j is scanned in linear time", (unit) => {
  // A scan that starts again at every repetition would exceed the timeout of the test.
  const text = unit.repeat(1_048_576 / unit.length);
  expect(redactText(text).length).toBeLessThanOrEqual(text.length * 3);
});

test("levels beyond maxDepth are cut, in JSON texts too", () => {
  expect(redact({ a: { b: { c: 1 } } }, { maxDepth: 2 })).toEqual({ a: { b: "[too deep]" } });
  expect(redact({ a: JSON.stringify({ b: { password: "hidden" } }) }, { maxDepth: 2 })).toEqual({
    a: '{"b":"[too deep]"}',
  });
});

test("a JSON text keeps the digits of its numbers when a secret in it is redacted", () => {
  const text = '{"password":"hidden","id":7205759403792793601}';
  expect(redact(text)).toBe('{"password":"[redacted]","id":7205759403792793601}');
});

test.each([3_000, 100_000])("values and JSON texts of %d levels are cut, and keep no secret", (levels) => {
  const text = `${'{"password":"hidden","a":'.repeat(levels)}1${"}".repeat(levels)}`;
  const shown = JSON.stringify(redact({ value: JSON.parse(text), text }));
  expect(shown).toContain("[too deep]");
  expect(shown).not.toContain("hidden");
});

test("large values are redacted in steps, and give the same as at once", () => {
  const value = Array.from({ length: 2_000 }, (_, index) => ({ index, note: `token=hidden ${index}` }));
  const steps = redactInSteps({ value });
  let count = 0;
  let last = steps.next();
  for (; !last.done; last = steps.next()) count += 1;
  expect(last.value).toEqual(redact({ value }));
  expect(count).toBeGreaterThan(5);
});

test.each([
  ["a text", "x".repeat(500), `${"x".repeat(100)}… (400 more characters)`],
  ["a text by one", "x".repeat(101), `${"x".repeat(100)}… (1 more character)`],
  ["a text with a character at the cut", `${"x".repeat(99)}🙂`, `${"x".repeat(99)}… (2 more characters)`],
  ["a secret at the cut", `${"x".repeat(90)} token=${"hidden".repeat(30)}`, `${"x".repeat(90)} token=[r`],
  [
    "JSON with a secret",
    JSON.stringify({ password: "hidden", a: "x".repeat(200) }),
    '{"password":"[redacted]"',
  ],
])("%s longer than maxText is cut after its secrets were removed", (_, text, beginning) => {
  const shown = String(redact(text, { maxText: 100 }));
  expect(shown.startsWith(beginning)).toBe(true);
  expect(shown).not.toContain("hidden");
});
