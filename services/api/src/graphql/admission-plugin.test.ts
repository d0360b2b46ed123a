import { ApolloServer } from "@apollo/server";
import { buildSchema } from "graphql";
import { expect, onTestFinished, test } from "vitest";
import { createOperation } from "../errors/telemetry.ts";
import { createAdmission } from "../load/admission.ts";
import type { GraphqlContext } from "../operation/context.ts";
import { createOperationPlugin } from "./apollo-server.ts";
import { createPipeline } from "./pipeline.ts";

const typeDefs = "type Query { a: Int } type Mutation { fail: Int }";
const fail = () => {
  throw new TypeError("planned");
};

/** A server with one slot for queries and one for mutations; its only mutation fails, and `formatError` formats the error. */
function startServer(formatError = () => ({ message: "failed" })) {
  const admission = createAdmission({
    maxPendingMutations: 1,
    maxPendingQueries: 1,
    maxUnfinishedPlansOf: async () => 1_000,
    maxUnfinishedPlans: 1,
    countUnfinished: async () => 0,
  });
  const schema = buildSchema(typeDefs);
  const pipeline = createPipeline({ schema, introspection: true, formatError, admission });
  const server = new ApolloServer<GraphqlContext>({
    typeDefs,
    resolvers: { Mutation: { fail } },
    formatError,
    logger: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
    plugins: [createOperationPlugin(pipeline)],
  });
  onTestFinished(() => server.stop());
  /** The pipeline uses only these parts of the context. */
  const send = (query: string, scopes = new Set(["admin"])) => {
    const parts = {
      tenant: "a",
      caller: { scopes },
      bytes: { waitWithoutTimeout: () => undefined },
      operation: createOperation(undefined, () => undefined),
    };
    return server.executeOperation({ query }, { contextValue: parts as unknown as GraphqlContext });
  };
  return { admission, send };
}

test("a query without its scope is refused at once, and takes no slot", async () => {
  const { admission, send } = startServer();
  const leave = await admission.enterQuery({ tenant: "a" });
  const { body } = await send("{ a }", new Set());
  expect(body).toMatchObject({ singleResult: { errors: [{ message: "failed" }] } });
  leave();
  await expect(admission.enterQuery({ tenant: "b" })).resolves.toBeTypeOf("function");
});

test("a mutation that fails releases its slot", async () => {
  const { admission, send } = startServer();
  await send("mutation { fail }");
  expect(admission.enter).not.toThrow();
});

test("a mutation that ends without a response releases its slot", async () => {
  const { admission, send } = startServer(() => {
    throw new TypeError("no text for it");
  });
  await send("mutation { fail }");
  expect(admission.enter).not.toThrow();
});
