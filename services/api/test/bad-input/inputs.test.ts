/** Arguments of every operation, and whole operations, that cannot be what was meant. */
import { readFileSync } from "node:fs";
import {
  buildSchema,
  type GraphQLArgument,
  type GraphQLField,
  getNamedType,
  isInputObjectType,
  isLeafType,
} from "graphql";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { BLOG_PLAN, type RunningApi, startTestApi } from "../running-api.ts";
import { askAs } from "../workers.ts";
import { expandMacros } from "./expand-macros.ts";
import { expectRefusal, expectWell, readCases, slowestAnswer, timed, traces } from "./refusals.ts";

const RefusalSchema = {
  name: z.string(),
  /** Default 200: what a resolver finds; 400 is for what is found before. */
  status: z.number().int().default(200),
  code: z.string().default("BAD_USER_INPUT"),
  says: z.string().optional(),
};
const ValueSchema = z.strictObject({ ...RefusalSchema, value: z.json() });
const OperationSchema = z.strictObject({
  ...RefusalSchema,
  query: z.string(),
  variables: z.record(z.string(), z.json()).default({}),
});
const file = readCases(
  "inputs.json",
  z.strictObject({
    /** Arguments with which each operation gets as far as to the one that is wrong. */
    arguments: z.record(z.string(), z.record(z.string(), z.json())),
    /** Values that many arguments cannot have, by the name of their list. */
    values: z.record(z.string(), z.array(ValueSchema)),
    /** For "operation.argument" or "operation.argument.field": names of lists, and values of its own. */
    wrong: z.record(z.string(), z.array(z.union([z.string(), ValueSchema]))),
    operations: z.array(OperationSchema),
  }),
);
const schema = buildSchema(
  readFileSync(new URL("../../src/graphql/schema.graphql", import.meta.url), "utf8"),
);
const fields = new Map(
  [schema.getQueryType(), schema.getMutationType()].flatMap((type) =>
    Object.values(type?.getFields() ?? {}).map((field) => [
      field.name,
      { field, kind: type === schema.getQueryType() ? "query" : "mutation" },
    ]),
  ),
);

/** An operation that gives its arguments as variables. */
function operationOf(name: string, given: object): string {
  const known = fields.get(name);
  if (!known) throw new TypeError(`No operation is named ${name}`);
  const { field, kind } = known;
  const used = field.args.filter((argument) => argument.name in given);
  const variables = used.map((argument) => `$${argument.name}: ${String(argument.type)}`).join(", ");
  const passed = used.map((argument) => `${argument.name}: $${argument.name}`).join(", ");
  const selection = isLeafType(getNamedType(field.type)) ? "" : "{ __typename }";
  return `${kind} (${variables}) { ${name}(${passed}) ${selection} }`;
}

/** Every argument of an operation, and the fields of those that are input objects. */
function placesOf(operation: string, { args }: GraphQLField<unknown, unknown>): string[] {
  const fieldsOf = ({ name, type }: GraphQLArgument) => {
    const named = getNamedType(type);
    return isInputObjectType(named) ? Object.keys(named.getFields()).map((field) => `${name}.${field}`) : [];
  };
  return args.flatMap((argument) =>
    [argument.name, ...fieldsOf(argument)].map((place) => `${operation}.${place}`),
  );
}

/** Each value in each place, with the operation around it. */
const wrongArguments = Object.entries(file.wrong).flatMap(([place, given]) => {
  const [operation = "", argument = "", field] = place.split(".");
  const values = given.flatMap((one) => (typeof one === "string" ? (file.values[one] ?? []) : [one]));
  return values.map(({ name, value, ...expected }) => {
    const set = { [argument]: field === undefined ? value : { [field]: value } };
    const variables = { ...file.arguments[operation], ...set };
    return { name: `${place}: ${name}`, query: operationOf(operation, variables), variables, ...expected };
  });
});

let running: RunningApi;
let ids: Record<string, string>;
beforeAll(async () => {
  running = await startTestApi({
    modelLimits: { maxModelCalls: 30, maxTokens: 500_000, maxCostUsd: 1 },
  });
  const asking = await running.graphql('mutation { createPlan(query: "Create an author") { id } }');
  await askAs(running.store, asking.body.data.createPlan.id, ["Which email?"]);
  ids = { asking: asking.body.data.createPlan.id };
});
afterAll(() => running.close());

async function expectRefused(each: (typeof file.operations)[number]): Promise<void> {
  const before = await traces(running);
  const { query, variables } = each;
  const body = expandMacros(JSON.stringify({ query, variables }), ids).replaceAll(
    '"[[plan]]"',
    JSON.stringify(BLOG_PLAN),
  );
  const init = { method: "POST", headers: { "content-type": "application/json" }, body };
  expectRefusal(await timed(each.name, () => running.send("/graphql", init)), each);
  expect(await traces(running)).toEqual(before);
}

describe("arguments", () => {
  afterAll(() => expectWell(running));
  test.each(wrongArguments)("$name: $code", expectRefused);

  test("of every operation are among them", () => {
    const all = [...fields].flatMap(([operation, { field }]) => placesOf(operation, field));
    expect(Object.keys(file.wrong).toSorted()).toEqual(all.toSorted());
  });
});

describe("operations", () => {
  afterAll(() => expectWell(running));
  test.each(file.operations)("$name: $code", expectRefused);
});

test("the slowest answer is told", async ({ annotate }) => {
  await annotate(slowestAnswer());
});
