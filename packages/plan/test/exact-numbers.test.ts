/** Numbers that a double would change, in every part of the plan language. */
import {
  evaluateCondition,
  fitTexts,
  type JsonObject,
  outputOfToolResult,
  parseExactJson,
  parsePlan,
  resolveReferences,
  shapeOfOutput,
  stringifyExactJson,
  validateArguments,
  validatePlan,
} from "@planwright/plan";
import { expect, test } from "vitest";

const ID = "7205759403792793601";
const exact = (text: string): JsonObject => parseExactJson(text) as JsonObject;
const schemaOf = (of: string): JsonObject => exact(`{"type":"object","properties":{"of":${of}}}`);

test.each([
  ['{"type":"integer"}', ID, []],
  ['{"type":"number"}', ID, []],
  ['{"type":["integer","null"]}', ID, []],
  ["{}", ID, []],
  ['{"type":"number"}', "0.1234567890123456789", []],
  ['{"type":"integer"}', "9007199254740992.5", ["ARGUMENT_TYPE"]],
  ['{"type":"boolean"}', ID, ["ARGUMENT_TYPE"]],
  ['{"type":"integer"}', `"${ID}"`, ["ARGUMENT_TYPE"]],
  ['{"type":"integer","maximum":9007199254740992}', "9007199254740993", ["ARGUMENT_VALUE"]],
  ['{"type":"integer","maximum":9007199254740993}', "9007199254740993", []],
  ['{"type":"integer","exclusiveMaximum":9007199254740993}', "9007199254740993", ["ARGUMENT_VALUE"]],
  ['{"type":"integer","minimum":9007199254740994}', "9007199254740993", ["ARGUMENT_VALUE"]],
  ['{"type":"integer","exclusiveMinimum":9007199254740992}', "9007199254740993", []],
  ['{"type":"integer","minimum":-9223372036854775808,"maximum":9223372036854775807}', "5", []],
  ['{"type":"integer","maximum":9223372036854775807}', "9223372036854775808", ["ARGUMENT_VALUE"]],
  ['{"type":"integer","multipleOf":2}', ID, ["ARGUMENT_VALUE"]],
  ['{"type":"number","multipleOf":0.01}', "19.99", []],
  [`{"enum":[${ID}]}`, ID, []],
  ['{"enum":[7205759403792793602]}', ID, ["ARGUMENT_VALUE"]],
  [`{"const":{"id":${ID}}}`, `{"id":${ID}}`, []],
  ['{"const":7205759403792793602}', ID, ["ARGUMENT_VALUE"]],
  ['{"type":"array","uniqueItems":true}', "[9007199254740993,9007199254740992]", []],
  ['{"type":"array","uniqueItems":true}', `[${ID},${ID}]`, ["ARGUMENT_VALUE"]],
  ['{"anyOf":[{"type":"string"},{"type":"integer"}]}', ID, []],
])("the schema %s of a number %s gives %j", (of, value, codes) => {
  const found = validateArguments({ name: "t", inputSchema: schemaOf(of) }, exact(`{"of":${value}}`));
  expect(found.map(({ code }) => code)).toEqual(codes);
  expect(found.map(({ message }) => message).join()).not.toContain("\uFDD0");
});

test("a number into a parameter for texts becomes its digits", () => {
  expect(fitTexts(schemaOf('{"type":"string"}'), exact(`{"of":${ID}}`)).value).toEqual({ of: ID });
  expect(fitTexts(schemaOf('{"type":"integer"}'), exact(`{"of":${ID}}`)).value).toEqual(
    exact(`{"of":${ID}}`),
  );
});

test.each<[string, unknown]>([
  ["structured content", { structuredContent: exact(`{"id":${ID},"sum":1e400}`) }],
  ["text", { content: [{ type: "text", text: `{"id":${ID},"sum":1e400}` }] }],
])("the result of a tool as %s keeps its digits, also inside a text", (_, result) => {
  const read = outputOfToolResult(result);
  if (!read.ok) throw new TypeError(read.error.message);
  const { value } = resolveReferences(
    { id: "<<s.id>>", text: "note <<s.id>>, <<s.sum>>", all: "is <<s>>" },
    { outputs: { s: read.output } },
  );
  expect(stringifyExactJson(value)).toBe(
    `{"id":${ID},"text":"note ${ID}, 1e400","all":"is {\\"id\\":${ID},\\"sum\\":1e400}"}`,
  );
  const { fields } = shapeOfOutput(read.output);
  expect(fields).toMatchObject({ id: { types: { integer: 1 } }, sum: { types: { integer: 1 } } });
});

test.each<[string, boolean]>([
  [`{"eq":["<<s.id>>",${ID}]}`, true],
  ['{"eq":["<<s.id>>",7205759403792793602]}', false],
  [`{"ne":["<<s.id>>","${ID}"]}`, true],
  ['{"gt":["<<s.id>>",7205759403792793600]}', true],
  ['{"lte":["<<s.id>>",7205759403792793600]}', false],
  ['{"lt":["<<s.id>>",1e400]}', true],
  ['{"gt":["<<s.id>>",5]}', true],
  [`{"in":["<<s.id>>",[1,${ID}]]}`, true],
])("the condition %s holds: %s", (condition, holds) => {
  const outputs = { s: exact(`{"id":${ID}}`) };
  expect(evaluateCondition(parseExactJson(condition) as never, { outputs })).toBe(holds);
});

test.each([
  `{"steps":[{"id":"s","tool":"t","arguments":{"id":${ID}}}]}`,
  `{"steps":[{"id":"s","tool":"t","arguments":${JSON.stringify(`{"id":${ID}}`)}}]}`,
])("a plan written as %s has the number", (text) => {
  const parsed = parsePlan(text);
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  expect(stringifyExactJson(parsed.plan.steps[0] ?? {})).toContain(`"arguments":{"id":${ID}}`);
  expect(
    validatePlan(parsed.plan, [
      { name: "t", inputSchema: exact('{"properties":{"id":{"type":"integer"}}}') },
    ]),
  ).toEqual([]);
});
