import { buildSchema, parse, validate } from "graphql";
import { expect, test } from "vitest";
import * as operations from "../src/api/operations.ts";
import { readText } from "./cli-stack.ts";

const schema = buildSchema(readText("../../../services/api/src/graphql/schema.graphql"));
const documents = Object.entries(operations).flatMap(([name, operation]): [string, string][] =>
  "document" in operation ? [[name, operation.document]] : [],
);

test.each(documents)("%s asks for what the published schema has", (_, document) => {
  expect(validate(schema, parse(document))).toEqual([]);
});
