import { makeExecutableSchema } from "@graphql-tools/schema";
import type { GraphQLSchema } from "graphql";
import { DateTimeResolver, JSONResolver } from "graphql-scalars";
import { SDL } from "../graphql/sdl.ts";
import { problemResolvers, stepErrorResolvers } from "./error-resolvers.ts";
import { executionResolvers } from "./execution-resolvers.ts";
import { mutationResolvers } from "./mutation-resolvers.ts";
import { modelCallResolvers, planResolvers, stepResolvers } from "./plan-resolvers.ts";
import { queryResolvers } from "./query-resolvers.ts";
import { answerResolvers, openQuestionResolvers } from "./question-resolvers.ts";
import { requestResolvers } from "./request-resolvers.ts";
import { subscriptionResolvers } from "./subscription-resolvers.ts";
import { toolResolvers } from "./tool-resolvers.ts";

/** The schema with its resolvers. @throws for a resolver without a field in the schema, at start */
export function createSchema(): GraphQLSchema {
  return makeExecutableSchema({
    typeDefs: SDL,
    resolvers: {
      DateTime: DateTimeResolver,
      JSON: JSONResolver,
      Query: queryResolvers,
      Mutation: mutationResolvers,
      Subscription: subscriptionResolvers,
      Request: requestResolvers,
      OpenQuestion: openQuestionResolvers,
      Answer: answerResolvers,
      Plan: planResolvers,
      Step: stepResolvers,
      StepError: stepErrorResolvers,
      Problem: problemResolvers,
      ModelCall: modelCallResolvers,
      Execution: executionResolvers,
      Tool: toolResolvers,
    },
    resolverValidationOptions: { requireResolversToMatchSchema: "error" },
    // Half of the time of this call without them: the tests check the SDL, and no one else has this schema.
    assumeValidSDL: true,
    updateResolversInPlace: true,
  });
}
