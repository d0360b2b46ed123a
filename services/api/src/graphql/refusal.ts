import { HeaderMap } from "@apollo/server";
import { GraphQLError } from "graphql";
import type { ApiError } from "../errors/api-error.ts";
import { statusOf } from "../errors/error-codes.ts";
import { headersOf } from "../errors/http-errors.ts";

/** An error that refuses a complete operation before any part of it runs, with its HTTP status. */
export function refusalOf(error: ApiError): GraphQLError {
  const headers = new HeaderMap(Object.entries(headersOf(error)));
  return new GraphQLError(error.message, {
    originalError: error,
    extensions: { http: { status: statusOf(error.code), headers } },
  });
}
