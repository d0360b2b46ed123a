import { makeExecutableSchema } from "@graphql-tools/schema";
import { digitsOf, exactNumberOf, isExactNumber, textOfOutsider } from "@planwright/plan";
import {
  GraphQLError,
  GraphQLID,
  GraphQLScalarType,
  type GraphQLSchema,
  GraphQLString,
  Kind,
  type ValueNode,
} from "graphql";
import { DateTimeResolver, JSONResolver } from "graphql-scalars";
import { SDL } from "../graphql/sdl.ts";
import { problemResolvers, stepErrorResolvers } from "./error-resolvers.ts";
import { executionResolvers } from "./execution-resolvers.ts";
import { mutationResolvers } from "./mutation-resolvers.ts";
import { modelCallResolvers, planResolvers, stepResolvers } from "./plan-resolvers.ts";
import { queryResolvers } from "./query-resolvers.ts";
import { answerResolvers, openQuestionResolvers } from "./question-resolvers.ts";
import { namedRequestResolvers, requestResolvers } from "./request-resolvers.ts";
import { subscriptionResolvers } from "./subscription-resolvers.ts";
import { toolResolvers } from "./tool-resolvers.ts";

/** Any JSON. Numbers in a document keep their digits, like those in variables. */
const JsonScalar = new GraphQLScalarType({ ...JSONResolver.toConfig(), parseLiteral: valueOfLiteral });

function valueOfLiteral(node: ValueNode, variables?: Readonly<Record<string, unknown>> | null): unknown {
  switch (node.kind) {
    case Kind.INT:
    case Kind.FLOAT:
      return exactNumberOf(node.value);
    case Kind.STRING:
      return textOfOutsider(node.value);
    case Kind.LIST:
      return node.values.map((value) => valueOfLiteral(value, variables));
    case Kind.OBJECT: {
      const fields = node.fields.map(({ name, value }) => [name.value, valueOfLiteral(value, variables)]);
      return Object.assign(Object.create(null), Object.fromEntries(fields));
    }
    default:
      return JSONResolver.parseLiteral(node, variables);
  }
}

/** A scalar for texts. Variables hold exact numbers as marked texts, which are no texts of the client. */
function refusingNumbers(scalar: GraphQLScalarType): GraphQLScalarType {
  const config = scalar.toConfig();
  return new GraphQLScalarType({
    ...config,
    parseValue(value) {
      if (isExactNumber(value))
        throw new GraphQLError(`${scalar.name} cannot represent a non string value: ${digitsOf(value)}`);
      return config.parseValue(value);
    },
  });
}

const StringScalar = refusingNumbers(GraphQLString);
const IdScalar = refusingNumbers(GraphQLID);

/** The schema with its resolvers. @throws for a resolver without a field in the schema, at start */
export function createSchema(): GraphQLSchema {
  return makeExecutableSchema({
    typeDefs: SDL,
    resolvers: {
      DateTime: DateTimeResolver,
      JSON: JsonScalar,
      String: StringScalar,
      ID: IdScalar,
      Query: queryResolvers,
      Mutation: mutationResolvers,
      Subscription: subscriptionResolvers,
      Request: requestResolvers,
      BulkResult: namedRequestResolvers,
      CostOfRequest: namedRequestResolvers,
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
