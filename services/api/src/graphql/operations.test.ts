import { buildSchema, extendSchema, getOperationAST, parse } from "graphql";
import { expect, test } from "vitest";
import {
  checkOperations,
  OPERATIONS,
  type OperationTable,
  operationNeeds,
  selectsLargeFields,
} from "./operations.ts";
import { SDL } from "./sdl.ts";

const schema = buildSchema(SDL);

const needsOf = (text: string) => {
  const document = parse(text);
  return operationNeeds(document, getOperationAST(document)!);
};
const needs = (text: string): string[] => [...needsOf(text).scopes].toSorted();

test("every operation of the schema says what it needs", () => {
  expect(() => checkOperations(schema)).not.toThrow();
});

test.each(["Query", "Mutation", "Subscription"])("a new field of %s without its needs is refused", (type) => {
  const more = extendSchema(schema, parse(`extend type ${type} { newest: Int }`));
  expect(() => checkOperations(more)).toThrow("newest has no entry in OPERATIONS");
});

test("a mutation without its needs does not compile", () => {
  const { cancel, ...others } = OPERATIONS.mutation;
  // @ts-expect-error -- cancel is missing
  const table: OperationTable["mutation"] = others;
  // @ts-expect-error -- what it makes is missing
  const part: OperationTable["mutation"]["cancel"] = { scopes: cancel.scopes };
  expect([table, part]).toHaveLength(2);
});

test.each([
  ["a sentence", "mutation { createPlan { id } }", true],
  ["a plan in a fragment", "mutation { ... on Mutation { a: rerun { id } } }", true],
  ["many plans, each with its own place", "mutation { rerunRequests { id } }", false],
  ["no plan", "mutation { cancel { id } }", false],
  ["a mutation without an entry", "mutation { newest { id } }", true],
])("%s takes the place of a new plan or not", (_what, text, expected) => {
  expect(needsOf(text).makesPlan).toBe(expected);
});

test.each([
  ["{ requests { nodes { id status } } }", true, false],
  ["{ requests { nodes { plan { document } } } }", true, true],
  ["{ ...a } fragment a on Query { getPlans { steps { output } } }", true, true],
  ['{ request(requestId: "a") { plan { document } } }', false, true],
])("%s is a list: %s, with large fields: %s", (text, isList, isLarge) => {
  expect([needsOf(text).isList, selectsLargeFields(schema, parse(text))]).toEqual([isList, isLarge]);
});

test.each([
  ["a query", "{ request { status } }", ["read"]],
  ["a subscription", "subscription { requestUpdated { status } }", ["read"]],
  ["a subscription to a list", "subscription { requestsUpdated { kind } }", ["read"]],
  ["the schema alone", "{ __typename __schema { queryType { name } } }", []],
  ["two mutations", "mutation { a: createPlan { id } b: cancel { id } }", ["execute", "operate"]],
  ["a field under another name", "mutation { createPlan: cancel { id } }", ["operate"]],
  ["a skipped field", "mutation { createPlan { id } cancel @skip(if: true) { id } }", ["execute", "operate"]],
  ["an inline fragment", "mutation { ... on Mutation { ... { pause { id } } } }", ["operate"]],
  [
    "fragments in fragments",
    "mutation { ...a } fragment a on Mutation { ...b } fragment b on Mutation { rerun { id } }",
    ["operate"],
  ],
  ["a mutation that needs two scopes", "mutation { amendPlan { request { id } } }", ["execute", "operate"]],
  ["a mutation without a scope in the table", "mutation { newest { id } }", ["admin"]],
])("%s needs the scopes of its fields", (_what, text, expected) => {
  expect(needs(text)).toEqual(expected);
});

test("fragments that spread each other many times are visited once", () => {
  const fragments = Array.from(
    { length: 60 },
    (_, at) => `fragment f${at} on Mutation { ...f${at + 1} ...f${at + 1} }`,
  );
  expect(
    needs(`mutation { ...f0 } ${fragments.join(" ")} fragment f60 on Mutation { cancel { id } }`),
  ).toEqual(["operate"]);
});
