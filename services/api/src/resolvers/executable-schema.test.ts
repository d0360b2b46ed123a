import { parseExactJson, textOfOutsider } from "@planwright/plan";
import { getVariableValues, type OperationDefinitionNode, parse } from "graphql";
import { expect, test } from "vitest";
import { createSchema } from "./executable-schema.ts";

const schema = createSchema();

/** The values of the variables of a request with this JSON text, or the messages of their errors. */
function coerced(types: string, variables: string) {
  const [operation] = parse(`query (${types}) { fleet { at } }`).definitions;
  const { variableDefinitions } = operation as OperationDefinitionNode;
  const values = parseExactJson(variables) as Record<string, unknown>;
  const { coerced: known, errors } = getVariableValues(schema, variableDefinitions ?? [], values);
  return known ?? errors?.map(({ message }) => message.split("; ").at(-1));
}

test.each([
  ["$text: String", '{"text":7205759403792793601}', "String", "7205759403792793601"],
  ["$text: String", '{"text":1e400}', "String", "1e400"],
  ["$id: ID!", '{"id":7205759403792793601}', "ID", "7205759403792793601"],
  ["$filter: RequestFilter", '{"filter":{"tag":9007199254740993}}', "String", "9007199254740993"],
])(
  "a variable %s is refused when it is a number that a double would change: %s",
  (types, json, name, digits) => {
    expect(coerced(types, json)).toEqual([`${name} cannot represent a non string value: ${digits}`]);
  },
);

test("texts of digits stay texts, and numbers in JSON stay exact", () => {
  expect(coerced("$text: String, $id: ID", '{"text":"7205759403792793601","id":"9007199254740993"}')).toEqual(
    {
      text: "7205759403792793601",
      id: "9007199254740993",
    },
  );
  expect(coerced("$text: String", '{"text":"\\ufdd05"}')).toEqual({ text: textOfOutsider("\uFDD05") });
  expect(coerced("$plan: JSON", '{"plan":7205759403792793601}')).toEqual({
    plan: parseExactJson("7205759403792793601"),
  });
});
