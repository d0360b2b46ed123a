import { type DocumentNode, validate } from "graphql";
import { expect, test } from "vitest";
import * as bulk from "../src/api/bulk.ts";
import * as fleet from "../src/api/fleet.ts";
import * as lists from "../src/api/listed-requests.ts";
import * as mutations from "../src/api/mutations.ts";
import * as records from "../src/api/request-record.ts";
import * as tools from "../src/api/tools.ts";
import { readApiSchema } from "./cli-stack.ts";

const schema = readApiSchema();
const exported = Object.entries({ ...bulk, ...fleet, ...lists, ...mutations, ...records, ...tools });
const documents = exported.flatMap(([name, operation]): [string, DocumentNode][] =>
  typeof operation === "object" ? [[name, operation as unknown as DocumentNode]] : [],
);

test.each(documents)("%s is valid for the published schema", (_, document) => {
  expect(validate(schema, document)).toEqual([]);
});
