import { ApolloServer } from "@apollo/server";
import { GraphQLError } from "graphql";
import { expect, onTestFinished, test } from "vitest";
import { createAdmission } from "../load/admission.ts";
import type { GraphqlContext } from "../operation/context.ts";
import { createAdmissionPlugin } from "./admission-plugin.ts";

/** A server whose only mutation ends as it is told, over an admission of one place. */
function startServer(formatError: () => { message: string }) {
  const admission = createAdmission({
    maxPendingMutations: 1,
    maxPendingQueries: 1,
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
  // Of the context the plugin uses the place alone.
  const send = () =>
    server.executeOperation({ query: "mutation { fail }" }, { contextValue: {} as GraphqlContext });
  return { admission, send };
}

test("a query that another check refuses while it waits takes no slot, whenever its turn comes", async () => {
  const admission = createAdmission({
    maxPendingMutations: 1,
    maxPendingQueries: 1,
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
  // Of the context the plugin uses the tenant and the slot alone.
  await server.executeOperation({ query: "{ a }" }, { contextValue: { tenant: "a" } as GraphqlContext });
  leave();
  await expect(admission.enterQuery({ tenant: "b" })).resolves.toBeTypeOf("function");
});

test("a mutation that fails gives its place back", async () => {
  const { admission, send } = startServer(() => ({ message: "failed" }));
  await send();
  expect(admission.enter).not.toThrow();
});

test("a mutation that ends without an answer of its own gives its place back", async () => {
  const { admission, send } = startServer(() => {
    throw new TypeError("no words for it");
  });
  await send();
  expect(admission.enter).not.toThrow();
});
