import { buildSchema, getOperationAST, parse } from "graphql";
import { expect, test } from "vitest";
import { requiredScopes, SCOPE_OF_MUTATION } from "./required-scopes.ts";
import { SDL } from "./sdl.ts";

const needs = (text: string): string[] => {
  const document = parse(text);
  return [...requiredScopes(document, getOperationAST(document)!)].toSorted();
};

test("every mutation of the schema has the scopes that it needs", () => {
  const fields = Object.keys(buildSchema(SDL).getMutationType()!.getFields());
  expect(Object.keys(SCOPE_OF_MUTATION).toSorted()).toEqual(fields.toSorted());
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
