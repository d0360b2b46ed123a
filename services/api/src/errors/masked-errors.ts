import { GraphQLError, type GraphQLFormattedError } from "graphql";

/** As Apollo's setting of the same name. */
export type FormatError = (formatted: GraphQLFormattedError, error: unknown) => GraphQLFormattedError;

/** An error as clients may read it, still an error of GraphQL. */
export function maskError(error: GraphQLError, formatError: FormatError): GraphQLError {
  const { message, extensions } = formatError(error.toJSON(), error);
  const { nodes, source, positions, path } = error;
  const place = {
    nodes: nodes ?? null,
    source: source ?? null,
    positions: positions ?? null,
    path: path ?? null,
  };
  return new GraphQLError(message, { ...place, extensions: extensions ?? {} });
}
