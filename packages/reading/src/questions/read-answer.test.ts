import {
  exactNumberOf,
  type JsonObject,
  type JsonValue,
  type OpenQuestion,
  parsePlan,
} from "@planwright/plan";
import { describe, expect, test } from "vitest";
import { bindTexts, bindValues, formOf, readAnswer } from "./read-answer.ts";
import { fillGaps, gapsOfPlan, keysOfPlace, toQuestions } from "./to-questions.ts";

const about = (schema: JsonObject, ...keys: (string | number)[]) => ({
  stepId: "s1",
  tool: "t",
  keys: keys.length > 0 ? keys : ["value"],
  schema,
});
const EMAIL = { type: "string", format: "email" };
const LEVEL = { type: "string", enum: ["low", "in_progress", "high"] };
const CONTEXT = { context: { now: new Date("2026-11-23T10:00:00Z"), timezone: "Europe/Berlin" } };

test.each<[string, JsonObject, (string | number)[], JsonValue]>([
  ["zoe@post.org", EMAIL, ["email"], "zoe@post.org"],
  ["email: zoe@post.org", EMAIL, ["email"], "zoe@post.org"],
  ["E-Mail = zoe@post.org", EMAIL, ["eMail"], "zoe@post.org"],
  ["it is zoe@post.org, thanks", EMAIL, ["email"], "zoe@post.org"],
  ['"zoe@post.org"', EMAIL, ["email"], "zoe@post.org"],
  ["author email: zoe@post.org", EMAIL, ["author", "email"], "zoe@post.org"],
  ["Hello: a story", { type: "string" }, ["title"], "Hello: a story"],
  ["title: Hello: a story", { type: "string" }, ["title"], "Hello: a story"],
  ["'title: Hello'", { type: "string" }, ["title"], "title: Hello"],
  ["https://a.test/x", { type: "string", format: "uri" }, ["https"], "https://a.test/x"],
  ["42", { type: "integer" }, ["count"], 42],
  ["-1.5", { type: "number" }, ["delta"], -1.5],
  ["7205759403792793601", { type: "integer" }, ["note"], exactNumberOf("7205759403792793601")],
  ["it is 7205759403792793601", { type: "integer" }, ["note"], exactNumberOf("7205759403792793601")],
  ["7205759403792793601", { type: "string" }, ["note"], "7205759403792793601"],
  ["about 12 guests", { type: "integer", maximum: 20 }, ["guests"], 12],
  ["42", { type: "string" }, ["code"], "42"],
  ["007", { type: ["string", "integer"] }, ["code"], "007"],
  ["yes", { type: "boolean" }, ["isOpen"], true],
  ["No.", { type: "boolean" }, ["isOpen"], false],
  ["In Progress", LEVEL, ["level"], "in_progress"],
  ["I'd say high, please", LEVEL, ["level"], "high"],
  [
    "ui, backend and docs",
    { type: "array", items: { type: "string" } },
    ["labels"],
    ["ui", "backend", "docs"],
  ],
  [
    "zoe@post.org, ann@post.org, and bob@post.org",
    { type: "array", items: EMAIL },
    ["to"],
    ["zoe@post.org", "ann@post.org", "bob@post.org"],
  ],
  [
    "ui ;\tdocs\nand tests",
    { type: "array", items: { type: "string" } },
    ["labels"],
    ["ui", "docs", "tests"],
  ],
  ["1, 2", { type: "array", items: { type: "integer" } }, ["ids"], [1, 2]],
  [
    '"a, b", c and `d and e`',
    { type: "array", items: { type: "string" } },
    ["labels"],
    ["a, b", "c", "d and e"],
  ],
  ["it is no-reply@post.org", EMAIL, ["email"], "no-reply@post.org"],
  ["5 times", { type: "integer" }, ["count"], 5],
  ["it's not started", { type: "string", enum: ["not_started", "done"] }, ["state"], "not_started"],
  ['["a, b"]', { type: "array", items: { type: "string" } }, ["labels"], ["a, b"]],
  ['{"x": 1}', { type: "object" }, ["point"], { x: 1 }],
  ["2026-12-24", { type: "string", format: "date" }, ["day"], "2026-12-24"],
  ["on December 24, 2026", { type: "string", format: "date" }, ["day"], "2026-12-24"],
  ["tomorrow", { type: "string", format: "date" }, ["day"], "2026-11-24"],
  ["tomorrow at 9am", { type: "string", format: "date-time" }, ["at"], "2026-11-24T09:00:00+01:00"],
  ["in an hour and a half", { type: "string", format: "date-time" }, ["at"], "2026-11-23T12:30:00+01:00"],
  ["<<s1.x>> and {{y}}", { type: "string" }, ["text"], "<<s1.x>> and {{y}}"],
  ["anything", {}, ["value"], "anything"],
])("%j answers a question about %j as %j with %j", (text, schema, keys, value) => {
  expect(readAnswer(about(schema, ...keys), text, CONTEXT)).toEqual({ ok: true, value });
});

test.each<[string, JsonObject, string]>([
  ["", EMAIL, "an empty text is no answer"],
  ["value:", { type: "string" }, "an empty text is no answer"],
  ["Zoe", EMAIL, "value takes an e-mail address"],
  ["a@b.org or c@d.org", EMAIL, "value takes an e-mail address"],
  ["<e-mail address>", { type: "string" }, "is a placeholder, not a value"],
  ["YOUR_API_KEY", { type: "string" }, "is a placeholder, not a value"],
  ["many", { type: "integer" }, "value takes a whole number"],
  ["1.5", { type: "integer" }, "value takes a whole number"],
  ["30", { type: "integer", maximum: 20 }, "value takes a whole number up to 20"],
  ["1,000", { type: "number" }, "value takes a number"],
  ["3-5", { type: "integer" }, "value takes a whole number"],
  ["3 – 5 guests", { type: "integer" }, "value takes a whole number"],
  ["2026-12-24", { type: "integer" }, "value takes a whole number"],
  ["at 10:30", { type: "integer" }, "value takes a whole number"],
  ["2 million", { type: "integer" }, "value takes a whole number"],
  ["minus 5 degrees", { type: "integer" }, "value takes a whole number"],
  ["not high", LEVEL, "value takes one of low, in_progress, high"],
  ["anything but low", LEVEL, "value takes one of low, in_progress, high"],
  ["don't make it low", LEVEL, "value takes one of low, in_progress, high"],
  ["not zoe@post.org", EMAIL, "value takes an e-mail address"],
  ["not on December 24, 2026", { type: "string", format: "date" }, "a date (YYYY-MM-DD)"],
  ["1,".repeat(1_001), { type: "array", items: { type: "integer" } }, "value takes a list"],
  ["maybe", { type: "boolean" }, "value takes yes or no"],
  ["middle", LEVEL, "value takes one of low, in_progress, high"],
  ["low or high", LEVEL, "value takes one of low, in_progress, high"],
  ["2026-02-30", { type: "string", format: "date" }, "a date (YYYY-MM-DD)"],
  ["next week", { type: "string", format: "date" }, "a date (YYYY-MM-DD)"],
  ["tomorrow or the 25th", { type: "string", format: "date" }, "a date (YYYY-MM-DD)"],
  ["before tomorrow", { type: "string", format: "date" }, "a date (YYYY-MM-DD)"],
  ...["tomorrow at 9 or 10", "tonight at 12", "half past tomorrow at 9"].map(
    (text): [string, JsonObject, string] => [
      text,
      { type: "string", format: "date-time" },
      "a date and time",
    ],
  ),
  ["ab", { type: "string", minLength: 3 }, "a text of at least 3 characters"],
  ["x-1", { type: "string", pattern: "^[0-9]+$" }, "a text that matches ^[0-9]+$"],
  ["a, b", { type: "array", items: { type: "integer" } }, "value takes a list, each a whole number"],
  ["x", { type: "object" }, "value takes a JSON object"],
])("%j does not fit %j, and the message says what fits", (text, schema, says) => {
  const read = readAnswer(about(schema), text, CONTEXT);
  expect(read).toMatchObject({ ok: false, message: expect.stringContaining(says) });
});

test("a placeholder that the schema lists is a value", () => {
  expect(readAnswer(about({ type: "string", enum: ["TODO", "DONE"] }), "todo")).toEqual({
    ok: true,
    value: "TODO",
  });
});

test("a schema with definitions is checked with them", () => {
  const schema = { $ref: "#/$defs/Level", $defs: { Level: LEVEL } };
  expect(readAnswer(about(schema), "low")).toEqual({ ok: true, value: "low" });
  expect(readAnswer(about(schema), "middle")).toMatchObject({ ok: false });
});

test("an unusable schema accepts any answer: the tool decides", () => {
  expect(readAnswer(about({ $ref: "https://elsewhere.test/schema" }), "x")).toEqual({ ok: true, value: "x" });
});

describe("answers are bound to their questions", () => {
  const ask = (id: string, key: string, schema: JsonObject): OpenQuestion => ({
    id,
    question: `What should ${key} be?`,
    about: about(schema, key),
  });
  const QUESTIONS = [ask("q1", "email", EMAIL), ask("q2", "title", { type: "string" })];
  const valuesOf = (...texts: string[]) =>
    bindTexts(QUESTIONS, texts).bound.map(({ question, value }) => [question.id, value]);

  test("in order, with and without labels", () => {
    const expected = [
      ["q1", "zoe@post.org"],
      ["q2", "Hello"],
    ];
    expect(valuesOf("zoe@post.org", "Hello")).toEqual(expected);
    expect(valuesOf("email: zoe@post.org", "Hello")).toEqual(expected);
    expect(valuesOf("title: Hello", "email: zoe@post.org")).toEqual(expected);
  });

  test("an answer that does not fit is reported with its question, regardless of the others", () => {
    const { bound, unfit } = bindTexts(QUESTIONS, ["Zoe", "Hello"]);
    expect(bound).toMatchObject([{ question: { id: "q2" }, value: "Hello" }]);
    expect(unfit).toMatchObject([{ question: { id: "q1" }, text: "Zoe" }]);
  });

  test("values are used unchanged, and checked", () => {
    const [email, title] = QUESTIONS;
    if (!email || !title) throw new TypeError("there are two questions");
    expect(bindValues([{ question: title, value: "email: x" }]).bound).toMatchObject([{ value: "email: x" }]);
    expect(bindValues([{ question: email, value: 5 }]).unfit).toMatchObject([{ question: { id: "q1" } }]);
  });

  test("an answer to a free question of a model gives no value", () => {
    const free: OpenQuestion = { id: "q3", question: "Which one?", about: null };
    expect(bindTexts([free], ["the second"]).bound).toEqual([
      { question: free, text: "the second", value: undefined },
    ]);
  });
});

test("values fill the gaps of a draft, texts never become references, and nothing else changes", () => {
  const draft = {
    steps: [
      { id: "a", tool: "t", arguments: { name: "A", list: [{ x: 1 }] }, dependsOn: ["b"] },
      { id: "b", tool: "t", forEach: { items: "<<a.list>>", do: { tool: "u", arguments: {} } } },
    ],
    outputs: ["a"],
  };
  const before = structuredClone(draft);
  const filled = fillGaps(draft, [
    { stepId: "a", keys: ["email"], value: "<<b.x>> {{y}}" },
    { stepId: "a", keys: ["list", 0, "x"], value: 2 },
    { stepId: "b", keys: ["__proto__"], value: "own" },
  ]);
  expect(draft).toEqual(before);
  expect(JSON.parse(JSON.stringify(filled))).toEqual({
    steps: [
      {
        id: "a",
        tool: "t",
        arguments: { name: "A", list: [{ x: 2 }], email: "\\<<b.x>> \\{{y}}" },
        dependsOn: ["b"],
      },
      {
        id: "b",
        tool: "t",
        forEach: {
          items: "<<a.list>>",
          do: { tool: "u", arguments: JSON.parse('{"__proto__": "own"}') as JsonObject },
        },
      },
    ],
    outputs: ["a"],
  });
  expect(() => fillGaps(draft, [{ stepId: "c", keys: ["x"], value: 1 }])).toThrow(RangeError);
  expect(() => fillGaps(draft, [{ stepId: "a", keys: ["list", 4], value: 1 }])).toThrow(RangeError);
});

test.each([
  ["steps[2].arguments.authorId", ["steps", 2, "arguments", "authorId"]],
  ['steps[0].arguments["a \\"b\\""][3]', ["steps", 0, "arguments", 'a "b"', 3]],
  ["", []],
  ["steps[2", undefined],
  ["a b", undefined],
])("the path %j has the keys %j", (place, keys) => {
  expect(keysOfPlace(place)).toEqual(keys);
});

test("a diagnostic of another path is not a gap", () => {
  const error = { code: "ARGUMENT_UNSOURCED" as const, severity: "error" as const, message: "m" };
  const parsed = parsePlan([{ id: "a", tool: "t", arguments: { x: 1 } }]);
  if (!parsed.ok) throw new TypeError("the plan is valid");
  const { plan } = parsed;
  const gapsAt = (path: string) => gapsOfPlan(plan, [{ ...error, stepId: "a", path }], { missing: false });
  expect(gapsAt("steps[0].arguments.x")).toEqual([{ stepId: "a", tool: "t", keys: ["x"] }]);
  expect(gapsAt("steps[0].when")).toBeUndefined();
  expect(gapsAt("steps[1].arguments.x")).toBeUndefined();
});

test("a question has the argument, its description, its object, the unusable value, and the required form", () => {
  const tools = [
    {
      name: "book",
      inputSchema: {
        type: "object",
        properties: {
          mail: { type: "string" },
          guest: { type: "object", properties: { email: { type: "string" } } },
        },
      },
    },
  ];
  const gap = { stepId: "book", tool: "book" };
  const questions = toQuestions(
    [
      { ...gap, keys: ["guest", "email"], said: "Bob", object: "Suite" },
      { ...gap, keys: ["mail"], question: "Where to?" },
    ],
    { tools, asked: 4 },
  );
  expect(questions).toMatchObject([
    {
      id: "q5",
      question:
        'What should "guest.email" of book for "Suite" be? "Bob" cannot be used. Give an e-mail address.',
      about: { keys: ["guest", "email"], schema: { type: "string", format: "email" } },
    },
    { id: "q6", question: "Where to?", about: { schema: { type: "string" } } },
  ]);
});

test("the form that a schema requires is described in words", () => {
  expect(formOf({ type: "integer", minimum: 1, maximum: 9 })).toBe("a whole number from 1 up to 9");
  expect(formOf({ type: ["string", "null"] })).toBe("a text");
  expect(formOf({ type: "array", items: EMAIL })).toBe("a list, each an e-mail address");
  expect(formOf({ const: 5 })).toBe("5");
  expect(formOf({ enum: Array.from({ length: 12 }, (_, index) => index) })).toBe(
    "one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 or 2 more",
  );
  expect(formOf(null)).toBe("a value");
});
