import { buildSchema, type DocumentNode, validate } from "graphql";
import { expect, test } from "vitest";
import * as bulk from "../src/operations.ts";
import * as fleet from "../src/operations.ts";
import * as lists from "../src/operations.ts";
import * as mutations from "../src/operations.ts";
import * as records from "../src/operations.ts";
import * as tools from "../src/operations.ts";
import { readText } from "./cli-stack.ts";

const schema = buildSchema(readText("../../../services/api/src/graphql/schema.graphql"));
const exported = Object.entries({ ...bulk, ...fleet, ...lists, ...mutations, ...records, ...tools });
const documents = exported.flatMap(([name, operation]): [string, DocumentNode][] =>
  typeof operation === "object" ? [[name, operation as unknown as DocumentNode]] : [],
);

test.each(documents)("%s is valid for the published schema", (_, document) => {
  expect(validate(schema, document)).toEqual([]);
});
