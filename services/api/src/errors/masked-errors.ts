import { GraphQLError, type GraphQLFormattedError } from "graphql";

/** The type of Apollo's option of this name. */
export type FormatError = (formatted: GraphQLFormattedError, error: unknown) => GraphQLFormattedError;

/** A masked error that is still a GraphQLError. */
export function maskError(error: GraphQLError, formatError: FormatError): GraphQLError {
  const { message, extensions } = formatError(error.toJSON(), error);
  const { nodes, source, positions, path } = error;
  const location = {
    nodes: nodes ?? null,
    source: source ?? null,
    positions: positions ?? null,
    path: path ?? null,
  };
  return new GraphQLError(message, { ...location, extensions: extensions ?? {} });
}
