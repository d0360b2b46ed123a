/**
 * The smallest API with the libraries of ours, as a separate process: Apollo Server behind Express, with a status from
 * memory, and no limits, credentials or database. Prints its address. What `bench -- api` compares polls of the status with.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { ApolloServer } from "@apollo/server";
import { expressMiddleware } from "@as-integrations/express5";
import express from "express";

const apollo = new ApolloServer({
  typeDefs: "type Request { status: String! } type Query { request(requestId: ID!): Request }",
  resolvers: { Query: { request: async () => ({ status: "COMPLETED" }) } },
});
await apollo.start();
const app = express().use("/graphql", express.json(), expressMiddleware(apollo));
const server = createServer(app).listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`http://127.0.0.1:${port}/graphql\n`);
});
