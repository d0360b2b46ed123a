/** Invalid arguments of every operation, and complete invalid operations. */

import { eventually, testAndProof } from "@planwright/testing";
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
import { SDL } from "../../src/index.ts";
import { BLOG_PLAN } from "../running-api.ts";
import { expectRefusal, RefusalSchema, readCases } from "./refusals.ts";
import { type RunningSystem, startRunningSystem } from "./running-system.ts";

const InputRefusalSchema = {
  ...RefusalSchema,
  /** Of a resolver; 400 if the error is found earlier. */
  status: RefusalSchema.status.default(200),
  code: RefusalSchema.code.default("BAD_USER_INPUT"),
};
const ValueSchema = z.strictObject({ ...InputRefusalSchema, value: z.json() });
const OperationSchema = z.strictObject({
  ...InputRefusalSchema,
  query: z.string(),
  variables: z.record(z.string(), z.json()).default({}),
});
const file = readCases(
  "inputs.json",
  z.strictObject({
    /** Valid arguments of each operation, to which the wrong argument is added. */
    arguments: z.record(z.string(), z.record(z.string(), z.json())),
    /** Values that are invalid for many arguments, by the name of their list. */
    values: z.record(z.string(), z.array(ValueSchema)),
    /** For "operation.argument" or "operation.argument.field": names of lists, and further values. */
    wrong: z.record(z.string(), z.array(z.union([z.string(), ValueSchema]))),
    operations: z.array(OperationSchema),
  }),
);
const schema = buildSchema(SDL);
const fields = new Map(
  [schema.getQueryType(), schema.getMutationType()].flatMap((type) =>
    Object.values(type?.getFields() ?? {}).map((field) => [
      field.name,
      { field, kind: type === schema.getQueryType() ? "query" : "mutation" },
    ]),
  ),
);

/** An operation that passes its arguments as variables. */
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

/** Every argument of an operation, and the fields of arguments that are input objects. */
function argumentPathsOf(operation: string, { args }: GraphQLField<unknown, unknown>): string[] {
  const fieldsOf = ({ name, type }: GraphQLArgument) => {
    const named = getNamedType(type);
    return isInputObjectType(named) ? Object.keys(named.getFields()).map((field) => `${name}.${field}`) : [];
  };
  return args.flatMap((argument) =>
    [argument.name, ...fieldsOf(argument)].map((path) => `${operation}.${path}`),
  );
}

/** Each value for each argument, with the operation around it. */
const wrongArguments = Object.entries(file.wrong).flatMap(([path, given]) => {
  const [operation = "", argument = "", field] = path.split(".");
  const values = given.flatMap((one) =>
    typeof one === "string"
      ? (file.values[one] ?? []).map((of) => ({ ...of, list: one }))
      : [{ ...one, list: "" }],
  );
  return values.map(({ name, value, list, ...expected }) => {
    const set = { [argument]: field === undefined ? value : { [field]: value } };
    const variables = { ...file.arguments[operation], ...set };
    const query = operationOf(operation, variables);
    return { name: `${path}: ${name}`, path, value: `${list}: ${name}`, query, variables, ...expected };
  });
});

/**
 * For `npm test`: every argument with one wrong value, and every wrong value at one argument. An argument takes a
 * value that none before it has taken, if there is one.
 */
function eachOnce(): string[] {
  const paths = new Set<string>();
  const values = new Set<string>();
  const take = (one: (typeof wrongArguments)[number]) => {
    paths.add(one.path);
    values.add(one.value);
    return one.name;
  };
  const isNew = ({ value }: (typeof wrongArguments)[number]) => !values.has(value);
  const ofPaths = wrongArguments.filter((one) => !paths.has(one.path) && isNew(one) && take(one));
  const others = wrongArguments.filter((one) => !paths.has(one.path) && take(one));
  return [...ofPaths, ...others, ...wrongArguments.filter((one) => isNew(one) && take(one))].map(
    ({ name }) => name,
  );
}

let running: RunningSystem;
let ids: Record<string, string>;
beforeAll(async () => {
  running = await startRunningSystem("inputs.json", { api: { REQUEST_MAX_COST_USD: "1" } });
  const { body } = await running.graphql(
    'mutation { createPlan(query: "Create an author named Alice") { id } }',
  );
  const { id } = body.data.createPlan;
  await eventually(async () => (await running.store.getRequest("default", id))?.status === "NEEDS_INPUT");
  ids = { asking: id };
});
afterAll(() => running.close());

async function expectRefused(each: z.output<typeof OperationSchema>): Promise<void> {
  const { name, query } = each;
  const variables = { ...each.variables, ...(each.variables["plan"] === "[[plan]]" && { plan: BLOG_PLAN }) };
  const answer = await running.play(name, () => running.post("/graphql", { query, variables }, { ids }));
  expectRefusal(answer, each);
}

describe("arguments", () => {
  afterAll(() => running.expectWorking());
  for (const { cases, options } of testAndProof(wrongArguments, ({ name }) => name, eachOnce()))
    test.each(cases)("$name: $code", options, expectRefused);

  test("of every operation are among them", () => {
    const all = [...fields].flatMap(([operation, { field }]) => argumentPathsOf(operation, field));
    expect(Object.keys(file.wrong).toSorted()).toEqual(all.toSorted());
  });
});

describe("operations", () => {
  afterAll(() => running.expectWorking());
  test.each(file.operations)("$name: $code", expectRefused);
});
