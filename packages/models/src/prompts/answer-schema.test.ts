import { isJsonObject, type JsonObject, type JsonValue, parsePlan } from "@planwright/plan";
import { describe, expect, test } from "vitest";
import { answerSchema } from "./answer-messages.ts";
import type { PlanLanguage } from "./system-prompt.ts";

const FLAGS = [false, true];
const LANGUAGES: PlanLanguage[] = FLAGS.flatMap((loops) =>
  FLAGS.flatMap((conditions) => FLAGS.map((outputs) => ({ loops, conditions, outputs }))),
);
const SCHEMAS = LANGUAGES.flatMap((language) =>
  FLAGS.map((isReplan): [string, JsonObject] => [
    JSON.stringify({ ...language, isReplan }),
    answerSchema(language, isReplan),
  ]),
);

interface Found {
  schema: JsonObject;
  /** Levels of nesting, counted from the answer itself. */
  depth: number;
}

/** A schema and all schemas in it. */
function schemasIn(schema: JsonValue, depth = 1): Found[] {
  if (!isJsonObject(schema)) return [];
  const { properties, items, anyOf } = schema;
  return [
    { schema, depth },
    ...(isJsonObject(properties)
      ? Object.values(properties).flatMap((inner) => schemasIn(inner, depth + 1))
      : []),
    ...schemasIn(items ?? null, depth + 1),
    ...(Array.isArray(anyOf) ? anyOf.flatMap((inner) => schemasIn(inner, depth)) : []),
  ];
}

/**
 * The rules are the strictest in the documentation of OpenAI (strict), Anthropic (structured outputs) and
 * Google (responseJsonSchema).
 */
describe.each(SCHEMAS)("every provider accepts the form of an answer with %s", (_, root) => {
  const found = schemasIn(root);

  test("its root is one object", () => {
    expect(root).toMatchObject({ type: "object" });
    expect(root).not.toHaveProperty("anyOf");
  });

  test("objects are closed, and require each of their fields", () => {
    const objects = found.filter(({ schema }) => schema["type"] === "object");
    for (const { schema } of objects) {
      expect(schema["additionalProperties"]).toBe(false);
      expect(schema["required"]).toEqual(Object.keys(schema["properties"] ?? {}));
    }
    expect(objects.length).toBeGreaterThan(2);
  });

  test("it has at most five levels, no reference, and few fields with several types", () => {
    expect(Math.max(...found.map(({ depth }) => depth))).toBeLessThanOrEqual(5);
    expect(JSON.stringify(root)).not.toContain("$ref");
    const unions = found.filter(({ schema }) => Array.isArray(schema["type"]) || schema["anyOf"]);
    expect(unions.length).toBeLessThanOrEqual(16);
  });
});

const stepFields = (schema: JsonObject) =>
  schemasIn(schema).flatMap(({ schema: { properties } }) =>
    isJsonObject(properties) && properties["tool"] ? [Object.keys(properties).join(" ")] : [],
  );
const PLAIN = { loops: false, conditions: false, outputs: false };

test("without the plan language the form is that of plain calls, and an answer has no additional token", () => {
  expect(stepFields(answerSchema(PLAIN, false))).toEqual(["tool arguments", "id tool arguments dependsOn"]);
  expect(answerSchema(PLAIN, false)["required"]).toEqual(["steps", "missing", "impossible"]);
});

test("a plain step is as short with the plan language", () => {
  const whole = { loops: true, conditions: true, outputs: true };
  expect(stepFields(answerSchema(whole, true))).toEqual([
    "id tool arguments",
    "id tool arguments dependsOn",
    "id tool arguments dependsOn forEach when",
  ]);
  expect(stepFields(answerSchema({ ...PLAIN, conditions: true }, false)).at(-1)).toMatch(/dependsOn when$/);
});

test("an answer in the strictest form is read as the plan that it means", () => {
  const strict = {
    steps: [
      { tool: "find", arguments: "{}" },
      {
        id: "close",
        tool: "close",
        arguments: '{"id":"<<item.id>>"}',
        dependsOn: [],
        forEach: "<<find.tickets>>",
        when: '{"gt":["<<find.total>>",0]}',
      },
    ],
    outputs: [{ name: "closed", value: "<<close.summary.ok>>" }],
    missing: null,
    impossible: null,
  };
  const { missing: _missing, impossible: _impossible, ...document } = strict;
  const read = parsePlan(document);
  const meant = parsePlan({
    steps: [
      { id: "find", tool: "find" },
      {
        id: "close",
        forEach: { items: "<<find.tickets>>", do: { tool: "close", arguments: { id: "<<item.id>>" } } },
        when: { gt: ["<<find.total>>", 0] },
      },
    ],
    outputs: { closed: "<<close.summary.ok>>" },
  });
  expect(read.ok && read).toEqual(meant.ok && meant);
});
