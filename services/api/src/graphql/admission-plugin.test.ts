import { ApolloServer } from "@apollo/server";
import { GraphQLError } from "graphql";
import { expect, onTestFinished, test } from "vitest";
import { createAdmission } from "../load/admission.ts";
import type { GraphqlContext } from "../operation/context.ts";
import { createAdmissionPlugin } from "./apollo-server.ts";

/** A server with one slot for mutations; its only mutation fails, and `formatError` formats the error. */
function startServer(formatError: () => { message: string }) {
  const admission = createAdmission({
    maxPendingMutations: 1,
    maxPendingQueries: 1,
    maxUnfinishedPlansOf: async () => 1_000,
    maxUnfinishedPlans: 1,
    countUnfinished: async () => 0,
  });
  const server = new ApolloServer<GraphqlContext>({
    typeDefs: "type Query { a: Int } type Mutation { fail: Int }",
    resolvers: {
      Mutation: {
        fail: () => {
          throw new TypeError("planned");
        },
      },
    },
    formatError,
    logger: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
    plugins: [createAdmissionPlugin(admission)],
  });
  onTestFinished(() => server.stop());
  // The plugin uses only the slot of the context.
  const send = () =>
    server.executeOperation({ query: "mutation { fail }" }, { contextValue: {} as GraphqlContext });
  return { admission, send };
}

test("a query that another check refuses while it waits takes no slot later", async () => {
  const admission = createAdmission({
    maxPendingMutations: 1,
    maxPendingQueries: 1,
    maxUnfinishedPlansOf: async () => 1_000,
    maxUnfinishedPlans: 1,
    countUnfinished: async () => 0,
  });
  const server = new ApolloServer<GraphqlContext>({
    typeDefs: "type Query { a: Int }",
    plugins: [
      createAdmissionPlugin(admission),
      {
        requestDidStart: async () => ({
          didResolveOperation: async () => {
            throw new GraphQLError("refused");
          },
        }),
      },
    ],
  });
  onTestFinished(() => server.stop());
  const leave = await admission.enterQuery({ tenant: "a" });
  // The plugin uses only the tenant and the slot of the context.
  await server.executeOperation({ query: "{ a }" }, { contextValue: { tenant: "a" } as GraphqlContext });
  leave();
  await expect(admission.enterQuery({ tenant: "b" })).resolves.toBeTypeOf("function");
});

test("a mutation that fails releases its slot", async () => {
  const { admission, send } = startServer(() => ({ message: "failed" }));
  await send();
  expect(admission.enter).not.toThrow();
});

test("a mutation that ends without a response releases its slot", async () => {
  const { admission, send } = startServer(() => {
    throw new TypeError("no text for it");
  });
  await send();
  expect(admission.enter).not.toThrow();
});
