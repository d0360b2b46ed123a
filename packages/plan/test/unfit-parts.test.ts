import { escapeHalves, findUnfit, parseExactJson, parsePlan } from "@planwright/plan";
import { expect, test } from "vitest";

const UNFIT = [
  ["a member named __proto__", '{"a":{"__proto__":{"x":1}}}', "a.__proto__"],
  ["a member that names types of BSON", '{"a":[{"_bsontype":"Long"}]}', "a[0]._bsontype"],
  ["a name with NUL", '{"a":{"n\\u0000":1}}', 'a["n\\u0000"]'],
  ["a reference to a document", '{"a":{"$ref":"c","$id":1}}', "a"],
  ["half of a character", '{"a":["x","\\ud83d!"]}', "a[1]"],
  ["half of a character in a name", '{"\\ude00":1}', '["\\ude00"]'],
] as const;

test.each(UNFIT)("%s is not fit for a plan, and is named by its path", (_, json, path) => {
  const from = path.startsWith("[") ? path : `.${path}`;
  expect(findUnfit(parseExactJson(json))?.path).toBe(`$${from}`);
  const plan = `[{"id":"s","tool":"t","arguments":${json}}]`;
  const asText = JSON.stringify([{ id: "s", tool: "t", arguments: json }]);
  for (const given of [parseExactJson(plan), plan, asText]) {
    const read = parsePlan(given);
    expect(read.ok).toBe(false);
    expect(read.diagnostics.map(({ message }) => message).join()).toContain(from);
  }
});

test.each([
  '{"constructor":[{"a":1}],"toString":[1],"$ref":"#/a","🙂":"🙂","a.b":"\\u0000"}',
  '{"$ref":1}',
  "[]",
])("%s is fit for a plan", (json) => {
  expect(findUnfit(JSON.parse(json))).toBeUndefined();
});

test("escapes of halves of characters leave JSON the same, and whole characters as they are", () => {
  const text = '["\ud83d🙂\udc00"]';
  expect(escapeHalves(text)).toBe('["\\ud83d🙂\\udc00"]');
  expect(JSON.parse(escapeHalves(text))).toEqual(JSON.parse(text));
});
