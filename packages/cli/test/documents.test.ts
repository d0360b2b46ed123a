import { type DocumentNode, validate } from "graphql";
import { expect, test } from "vitest";
import * as operations from "../src/operations.ts";
import { readApiSchema } from "./cli-stack.ts";

const schema = readApiSchema();
const exported = Object.entries(operations);
const documents = exported.flatMap(([name, operation]): [string, DocumentNode][] =>
  typeof operation === "object" ? [[name, operation as unknown as DocumentNode]] : [],
);

test.each(documents)("%s is valid for the published schema", (_, document) => {
  expect(validate(schema, document)).toEqual([]);
});
