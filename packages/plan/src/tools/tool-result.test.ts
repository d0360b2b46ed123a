import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonValue } from "../json/json.ts";
import { jsonOfText, type OutputText, outputOfToolResult, textOfOutput } from "./tool-result.ts";

const text = (value: string) => ({ type: "text", text: value });
const image = { type: "image", data: "AAAA", mimeType: "image/png" };
const link = { type: "resource_link", uri: "file:///a", name: "a" };
/** The mark of a result of the newer protocol, which allows any structured content. */
const newer = { resultType: "complete" };
const resource = { type: "resource", resource: { uri: "file:///a", text: "hi" } };

describe("the output of a tool result", () => {
  test.each<[string, unknown, unknown]>([
    ["structured content", { structuredContent: { a: 1 }, content: [text("other")] }, { a: 1 }],
    ["structured content without content", { structuredContent: { a: 1 } }, { a: 1 }],
    ["structured content that is empty", { structuredContent: {}, content: [text("x")] }, {}],
    ["structured content that is a list", { structuredContent: [1], content: [], ...newer }, [1]],
    ["structured content 0", { structuredContent: 0, content: [text("x")], ...newer }, 0],
    ["structured content false", { structuredContent: false, content: [text("x")], ...newer }, false],
    ["structured content of empty text", { structuredContent: "", content: [text("x")], ...newer }, ""],
    ["content when structured content is null", { structuredContent: null, content: [text("x")] }, "x"],
    ["null when that is all", { structuredContent: null, content: [] }, null],
    [
      "content when structured content is undefined",
      { structuredContent: undefined, content: [text("x")] },
      "x",
    ],
    ["plain text", { content: [text("hello")] }, "hello"],
    ["text with its blanks", { content: [text("  hello \n")] }, "  hello \n"],
    ["empty text", { content: [text("")] }, ""],
    ["007 as text", { content: [text("007")] }, "007"],
    ["+5 as text", { content: [text("+5")] }, "+5"],
    ["NaN as text", { content: [text("NaN")] }, "NaN"],
    ["Infinity as text", { content: [text("-Infinity")] }, "-Infinity"],
    ["True as text", { content: [text("True")] }, "True"],
    ["a broken object as text", { content: [text('{"a":')] }, '{"a":'],
    ["an object with words after it as text", { content: [text("{} done")] }, "{} done"],
    ["two objects in one text as text", { content: [text("{}\n{}")] }, "{}\n{}"],
    ["a list with NaN as text", { content: [text("[NaN]")] }, "[NaN]"],
    ["a list with a trailing comma as text", { content: [text("[1,]")] }, "[1,]"],
    ["single quotes as text", { content: [text("{'a':1}")] }, "{'a':1}"],
    ["text that looks like a reference as text", { content: [text("<<a.b>>")] }, "<<a.b>>"],
    ["several texts joined", { content: [text("a"), text("b")] }, "a\nb"],
    ["several objects as a list", { content: [text('{"a":1}'), text("[2]")] }, [{ a: 1 }, [2]]],
    ["an object, a list and a word joined", { content: [text("{}"), text("[]"), text("b")] }, "{}\n[]\nb"],
    ["a number and a word joined", { content: [text("5"), text("b")] }, "5\nb"],
    ["one image", { content: [image] }, image],
    ["one link", { content: [link] }, link],
    ["one embedded resource", { content: [resource] }, resource],
    ["text and image as a list of blocks", { content: [text("{}"), image] }, [text("{}"), image]],
    ["two images", { content: [image, image] }, [image, image]],
    ["nothing", { content: [] }, null],
    ["no content member", {}, null],
    ["isError false", { isError: false, content: [text("x")] }, "x"],
    ["null for all that is absent", { isError: null, _meta: null, content: null }, null],
    ["a complete result of the newer protocol", { resultType: "complete", content: [text("x")] }, "x"],
    ["-0 as 0", { structuredContent: { a: -0 } }, { a: 0 }],
    ["members that are undefined as absent", { structuredContent: { a: undefined, b: 1 } }, { b: 1 }],
    ["a date as text", { structuredContent: { at: new Date(0) } }, { at: "1970-01-01T00:00:00.000Z" }],
    ["$& and $1 as they are", { content: [text("$& $1 $$")] }, "$& $1 $$"],
  ])("is %s", (_, result, output) => {
    expect(outputOfToolResult(result)).toEqual({ ok: true, output });
  });

  test.each<[string, string, unknown, OutputText]>([
    ["a number", "42", 42, 0],
    ["a number with an exponent", "1e5", 100_000, "1e5"],
    ["a number with a fraction of nothing", "1.0", 1, "1.0"],
    ["a large integer without lost digits", "1000000000000000000000", 1e21, "1000000000000000000000"],
    ["a boolean", "true", true, 0],
    ["null", "null", null, 0],
    ["null between blanks", " null\n", null, " null\n"],
    ["a text in quotes", '"a"', "a", 0],
    ["a compact object", '{"a":[1,null]}', { a: [1, null] }, 0],
    ["a list on one line", '[1, {"b": 2}]', [1, { b: 2 }], -1],
    ["an indented object", '{\n  "a": [\n    1\n  ]\n}', { a: [1] }, 2],
    ["an object between blanks", ' \n{"a":1}\n ', { a: 1 }, ' \n{"a":1}\n '],
    ["an object with blanks of its own", '{"a":  1}', { a: 1 }, '{"a":  1}'],
  ])("is the value of a text that is %s, and how it was written", (_, written, output, form) => {
    expect(outputOfToolResult({ content: [text(written)] })).toEqual({ ok: true, output, text: form });
    expect(textOfOutput(output as JsonValue, form)).toBe(written);
  });

  test.each<[string, string[], unknown]>([
    ["before it", ["2 boards:", '[{"id":1}]'], [{ id: 1 }]],
    ["behind it", ['{"id":1}', "Quota: 3 left"], { id: 1 }],
    ["around it", ["a", '{"id":1}', "b"], { id: 1 }],
  ])("is the one object or list beside notes %s; the texts are kept", (_, texts, output) => {
    expect(outputOfToolResult({ content: texts.map(text) })).toEqual({
      ok: true,
      output,
      text: texts.join("\n"),
    });
  });

  test.each<[string, object, unknown, string]>([
    ["a word for isError", { isError: "no" }, "x", "isError: declared true or false, returned a text"],
    [
      "an unknown kind of block",
      { content: [{ type: "hologram" }] },
      { type: "hologram" },
      "content[0].type: declared text, image, audio, resource, resource_link, returned hologram",
    ],
    ["a text as content", { content: "hi" }, "hi", "content: declared a list of blocks, returned a text"],
    [
      "an object as result",
      { content: undefined, id: 1 },
      { id: 1 },
      "content: declared a list of blocks, returned nothing",
    ],
    [
      "a list as structure",
      { structuredContent: [1] },
      [1],
      "structuredContent: declared an object, returned a list",
    ],
  ])("is kept with a warning that names %s", (_, more, output, warning) => {
    expect(outputOfToolResult({ content: [text("x")], ...more })).toEqual({
      ok: true,
      output,
      warnings: [`OUTPUT_UNEXPECTED: ${warning}`],
    });
  });

  test("never has more than five warnings, each of limited length", () => {
    const answer = outputOfToolResult({
      content: Array.from({ length: 50 }, () => ({ type: "x".repeat(999) })),
    });
    const warnings = (answer.ok && answer.warnings) || [];
    expect(warnings).toHaveLength(5);
    expect(Math.max(...warnings.map(({ length }) => length))).toBeLessThan(600);
  });

  test.each([
    ["as text", { content: [text('{"__proto__":{"admin":true},"a":1}')] }],
    ["as structure", { structuredContent: JSON.parse('{"__proto__":{"admin":true},"a":1}') }],
  ])("keeps a member named __proto__ %s as an own member, and changes no prototype", (_, given) => {
    const result = outputOfToolResult(given);
    const output = result.ok ? (result.output as object) : {};
    expect(JSON.stringify(output)).toBe('{"__proto__":{"admin":true},"a":1}');
    expect(Object.getPrototypeOf(output)).toBe(Object.prototype);
    expect("admin" in output).toBe(false);
  });

  test("shares nothing with the result and leaves it as it is", () => {
    const result = { structuredContent: { a: { b: [1] } } };
    const answer = outputOfToolResult(result);
    result.structuredContent.a.b.push(2);
    expect(answer).toEqual({ ok: true, output: { a: { b: [1] } } });
  });
});

describe("a tool that reports an error", () => {
  test.each<[string, unknown, string]>([
    ["its text", { isError: true, content: [text("no such author")] }, "no such author"],
    ["its texts", { isError: true, content: [text("a"), image, text("b")] }, "a\nb"],
    [
      "its text before its structure",
      { isError: true, content: [text("a")], structuredContent: { message: "b" } },
      "a",
    ],
    [
      "its text unchanged, even JSON",
      { isError: true, content: [text('{"message":"a"}')] },
      '{"message":"a"}',
    ],
    ["the message in its structure", { isError: true, structuredContent: { message: "b" } }, "b"],
    [
      "the error text in its structure",
      { isError: true, content: [], structuredContent: { error: "b" } },
      "b",
    ],
    [
      "the message of the error in its structure",
      { isError: true, structuredContent: { error: { message: "b" } } },
      "b",
    ],
    [
      "its structure when it says nothing else",
      { isError: true, structuredContent: { code: 7 } },
      '{"code":7}',
    ],
    ["a text as structure", { isError: true, structuredContent: "b" }, "b"],
    [
      "a sentence when there is none",
      { isError: true, content: [] },
      "The tool reported an error without a message",
    ],
    [
      "a sentence for blanks",
      { isError: true, content: [text("  ")] },
      "The tool reported an error without a message",
    ],
    ["its texts when it says so in a word", { isError: "true", content: [text("a")] }, "a"],
    [
      "a sentence for an image",
      { isError: true, content: [image] },
      "The tool reported an error without a message",
    ],
  ])("fails with %s", (_, result, message) => {
    expect(outputOfToolResult(result)).toMatchObject({ ok: false, error: { code: "TOOL_FAILED", message } });
  });

  test("passes its structured content on", () => {
    expect(
      outputOfToolResult({ isError: true, content: [text("a")], structuredContent: { code: 7 } }),
    ).toEqual({
      ok: false,
      error: { code: "TOOL_FAILED", message: "a", data: { code: 7 } },
    });
  });

  test("passes on what it wrote as JSON text", () => {
    const answer = outputOfToolResult({ isError: true, content: [text("Failed:"), text('{"code":7}')] });
    expect(answer).toMatchObject({ ok: false, error: { message: 'Failed:\n{"code":7}', data: { code: 7 } } });
  });

  test.each([
    ["none", "none"],
    ["possible", undefined],
    [true, undefined],
    [undefined, undefined],
  ])("with the effect %j in its _meta has the effect %j", (said, effect) => {
    const answer = outputOfToolResult({ isError: true, _meta: { "dev.planwright/effect": said } });
    expect(!answer.ok && answer.error.effect).toBe(effect);
  });

  test("has its message cut to the limit", () => {
    const answer = outputOfToolResult({ isError: true, content: [text("x".repeat(100_000))] });
    expect(!answer.ok && answer.error.message).toHaveLength(10_000);
  });
});

describe("results that cannot be an output", () => {
  const round: unknown[] = [];
  round.push(round);
  const throwing = {
    get content(): never {
      throw new RangeError("boo");
    },
  };
  test.each<[string, unknown]>([
    ["nothing", undefined],
    ["null", null],
    ["a text", "hello"],
    ["a list", [text("x")]],
    ["an answer that asks for input", { resultType: "input_required", content: [] }],
    ["NaN", { structuredContent: { a: Number.NaN } }],
    ["infinity", { structuredContent: [Infinity] }],
    ["a function", { structuredContent: { a: () => 1 } }],
    ["a symbol", { structuredContent: Symbol("x") }],
    ["a bigint", { structuredContent: { a: 1n } }],
    ["a map", { structuredContent: new Map([["a", 1]]) }],
    ["bytes", { structuredContent: new Uint8Array(3) }],
    ["an invalid date", { structuredContent: new Date(Number.NaN) }],
    ["a getter that throws", throwing],
  ])("%s is TOOL_RESULT_INVALID", (_, result) => {
    expect(outputOfToolResult(result)).toMatchObject({ ok: false, error: { code: "TOOL_RESULT_INVALID" } });
  });

  test("the message contains the path", () => {
    const answer = outputOfToolResult({ structuredContent: { rows: [1, { "a b": Number.NaN }] } });
    expect(!answer.ok && answer.error.message).toContain('$.structuredContent.rows[1]["a b"]');
  });

  const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
  test.each<[string, unknown]>([
    ["a cycle", { structuredContent: round }],
    ["deep nesting in a text", { content: [text(nested(65))] }],
    ["very deep nesting in a text", { content: [text(nested(1_000_000))] }],
    ["deep nesting", { structuredContent: JSON.parse(nested(5_000)) }],
    ["a huge text", { content: [text("x".repeat(9_000_000))] }],
  ])("%s is TOOL_RESULT_TOO_LARGE", (_, result) => {
    expect(outputOfToolResult(result)).toMatchObject({ ok: false, error: { code: "TOOL_RESULT_TOO_LARGE" } });
  });

  test("an output that is too large is refused with its size, the limit and what to do", () => {
    const answer = outputOfToolResult({ structuredContent: { rows: "x".repeat(200) } }, { maxBytes: 100 });
    expect(!answer.ok && answer.error.message).toBe(
      "The tool's output is 211 bytes of JSON, and at most 100 are kept; let the tool return less, such as a page, a selection of fields, or where the data can be found",
    );
    const endless = outputOfToolResult({ content: [text("x".repeat(2_000_000))] }, { maxBytes: 100 });
    expect(!endless.ok && endless.error.message).toContain("more than 800 bytes");
  });

  test("an output that just fits is kept although its result holds it twice, once with escapes", () => {
    const output = { text: '"'.repeat(1_000_000) };
    const result = { structuredContent: output, content: [text(JSON.stringify(output))] };
    const maxBytes = JSON.stringify(output).length;
    expect(outputOfToolResult(result, { maxBytes })).toEqual({ ok: true, output });
  });

  test("depth and size limits are exact", () => {
    const answer = (value: unknown, limits: object) =>
      outputOfToolResult({ structuredContent: value }, limits).ok;
    expect(answer(JSON.parse(nested(64)), {})).toBe(true);
    expect(answer(JSON.parse(nested(65)), {})).toBe(false);
    expect(answer([[]], { maxDepth: 2 })).toBe(true);
    expect(answer([[]], { maxDepth: 1 })).toBe(false);
    expect(answer("abc", { maxBytes: 5 })).toBe(true);
    expect(answer("abc", { maxBytes: 4 })).toBe(false);
  });

  test("size is that of the JSON text in UTF-8, for any JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const maxBytes = Buffer.byteLength(JSON.stringify(value));
        expect(outputOfToolResult({ structuredContent: [value] }, { maxBytes: maxBytes + 2 }).ok).toBe(true);
        expect(outputOfToolResult({ structuredContent: [value] }, { maxBytes: maxBytes + 1 }).ok).toBe(false);
      }),
    );
  });
});

describe("for any value", () => {
  test("JSON is returned unchanged, as structured content or as the text of an object or list", () => {
    const json = fc.jsonValue({ maxDepth: 5 });
    fc.assert(
      fc.property(json, (value) => {
        expect(outputOfToolResult({ ...newer, structuredContent: [value] })).toEqual({
          ok: true,
          output: [value],
        });
        expect(outputOfToolResult({ content: [text(JSON.stringify({ value }))] })).toEqual({
          ok: true,
          output: { value },
          text: 0,
        });
      }),
    );
  });

  test("text that is not JSON is returned unchanged", () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        fc.pre(jsonOfText(value) === undefined);
        expect(outputOfToolResult({ content: [text(value)] })).toEqual({ ok: true, output: value });
      }),
    );
  });

  // `npm test` draws a tenth, `npm run proof` others.
  for (const { numRuns, options } of [
    { numRuns: 50, options: {} },
    { numRuns: 450, options: { tags: ["proof"] } },
  ])
    test("nothing throws, and every output is JSON", options, () => {
      const anything = fc.anything({
        withBigInt: true,
        withDate: true,
        withMap: true,
        withNullPrototype: true,
        withTypedArray: true,
      });
      fc.assert(
        fc.property(anything, anything, fc.boolean(), (structuredContent, content, isError) => {
          const answer = outputOfToolResult({ structuredContent, content: [content], isError });
          if (answer.ok) expect(JSON.parse(JSON.stringify(answer.output))).toEqual(answer.output);
        }),
        { numRuns },
      );
    });
});
