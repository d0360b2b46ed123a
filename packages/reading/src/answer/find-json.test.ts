import { describe, expect, test } from "vitest";
import { findJson } from "./find-json.ts";

const valuesOf = (text: string) => findJson(text).values.map(({ value }) => value);

describe("JSON with defects that have one meaning", () => {
  test.each([
    ["single quotes", "{'a': 'b \"c\"'}", { a: 'b "c"' }],
    [
      "an apostrophe that should have been escaped",
      "{'a': 'Alice's blog', 'b': 1}",
      { a: "Alice's blog", b: 1 },
    ],
    ["an apostrophe that is escaped", "{'a': 'Alice\\'s'}", { a: "Alice's" }],
    ["quotes inside a text", '{"a": "say "hi" to her"}', { a: 'say "hi" to her' }],
    ["curly quotes", "{“a”: “b”, ‘c’: ‘d’}", { a: "b", c: "d" }],
    ["backslashes in single quotes", "{'a': '\\\\\"'}", { a: '\\"' }],
    ["extra commas", '{"a": [1, 2,], }', { a: [1, 2] }],
    ["many missing commas", `[${"1 ".repeat(501)}]`, Array.from({ length: 501 }, () => 1)],
    ["missing commas", '{"a": 1\n"b": 2}', { a: 1, b: 2 }],
    ["comments", '{"a": 1, // b: 2\n/* c */ "d": 3 # e\n}', { a: 1, d: 3 }],
    ["bare names", "{a: 1, $b_2: 2}", { a: 1, $b_2: 2 }],
    ["Python literals", '{"a": None, "b": True, "c": [False]}', { a: null, b: true, c: [false] }],
    ["line breaks inside a text", '{"a": "b\nc"}', { a: "b\nc" }],
    ["an unnecessary backslash", '{"a\\_b": "c"}', { a_b: "c" }],
    ["spaces of other scripts", '{\u00a0"a":\u00a01}', { a: 1 }],
  ])("%s", (_, text, value) => {
    expect(findJson(text)).toMatchObject({ values: [{ value, isRepaired: true }], isCut: false });
  });
});

describe("JSON with more than one possible meaning is not a value", () => {
  test.each([
    ["an ellipsis", '{"steps": [1, ...]}'],
    ["a missing value", '{"steps": , "a": 1}'],
    ["a missing name", '{"steps": 1, : 2}'],
    ["a text without quotes", '{"steps": author id}'],
    ["a reference without quotes", '{"steps": <<a._id>>}'],
    ["a call", '{"steps": ObjectId("a")}'],
    ["a sum of texts", '{"steps": "a" + "b"}'],
    ["a sum of texts in single quotes", "{'steps': 'a' + 'b'}"],
    ["an unmatched quote", '{"steps": "5\'10" tall"}'],
    ["an odd number of quotes", '{"steps": "say "hi to her"}'],
    ["two texts for one name", '{"steps": "a" "b"}'],
    ["the wrong bracket", '{"steps": [1, 2}'],
    ["an invalid number", '{"steps": 1.}'],
    ["a path or half an escape", '{"steps": "C:\\users", b: 1}'],
    ["a duplicate name", '{"steps": [1], "steps": [2]}'],
  ])("%s", (_, text) => {
    const { values, broken } = findJson(text);
    expect(values).toEqual([]);
    expect(broken).toHaveLength(1);
  });

  test.each([
    ["an open object", '{"a": {"b": 1}'],
    ["an open text", '{"a": "b}'],
    ["an incomplete word", '{"a": tru'],
    ["an incomplete name", '{"a": 1, b'],
    ["only a bracket", "It is {"],
    ["an open object in a fence", '```json\n{"a": 1\n```'],
    ["an open object in a tag", '<plan>{"a": 1</plan>'],
    ["an open object in a text", '{\\"a\\": {\\"b\\": 1}'],
  ])("%s is cut", (_, text) => {
    expect(findJson(text)).toMatchObject({ values: [], isCut: true });
  });
});

describe("JSON and prose", () => {
  test.each([
    [
      "braces, brackets and references",
      "Use {name} [here], {{a.b}}, [see docs], a[i], {x, y} and [ ]: ok",
      [[]],
    ],
    ["several values", "{\"a\":1} and [2] or {'b': 3}", [{ a: 1 }, [2], { b: 3 }]],
    ["an interval that never closes", 'in [0, 1) is {"a": 1}', [{ a: 1 }]],
    ["a JSON text inside a JSON text", '"\\"{\\\\\\"a\\\\\\": 1}\\""', [{ a: 1 }]],
    ["a text with prose around the JSON", '"Here: {\\"a\\": \\"b\\\\nc\\"}. Done"', [{ a: "b\nc" }]],
    ["a text in non-JSON quotes, with one level of escapes less", "\"{'a': 'it\\\\'s'}\"", [{ a: "it's" }]],
    ["quotes around plain JSON", 'He wrote "{"a": 1}" there', [{ a: 1 }]],
    ["an extra bracket", '{"a":1}}]', [{ a: 1 }]],
    ["brackets inside texts", '{"a":"} ] ```"} x', [{ a: "} ] ```" }]],
  ])("%s", (_, text, values) => {
    expect(valuesOf(text)).toEqual(values);
  });

  test("JSON that begins inside a broken value is not a separate value", () => {
    const { values, broken } = findJson('{"steps": [{"tool": "a", "arguments": {"b": {"c": 1}, ...}}]}');
    expect(values).toEqual([]);
    expect(broken).toHaveLength(1);
  });

  test("a value has the text before it as its gap", () => {
    const { values } = findJson('[1] or,\n```json\n{"a":1}\n```\n{"b":2}');
    expect(values.map(({ gap }) => gap)).toEqual(["", "or```json", "```"]);
  });

  test("nesting ends at 128 levels", () => {
    expect(findJson("[".repeat(128) + "]".repeat(128)).values).toHaveLength(1);
    expect(findJson("[".repeat(129) + "]".repeat(129))).toMatchObject({ values: [], isTooDeep: true });
  });
});
