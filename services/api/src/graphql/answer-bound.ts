import type { ApolloServerPlugin } from "@apollo/server";
import { stringifyExactJson } from "@planwright/plan";
import type { FormattedExecutionResult, GraphQLSchema } from "graphql";
import { ApiError } from "../errors/api-error.ts";
import { statusOf } from "../errors/error-codes.ts";
import type { createFormatError } from "../errors/format-error.ts";
import { headersOf } from "../errors/http-errors.ts";
import { AnswerTooLargeError } from "../errors/input-errors.ts";
import { OverloadedError } from "../errors/service-errors.ts";
import { LIGHT_ANSWER_BYTES } from "../load/answer-bytes.ts";
import { jsonBytes, stringifyInSlices } from "../load/json-bytes.ts";
import type { GraphqlContext } from "../operation/context.ts";
import { isHeavyList } from "./heavy-fields.ts";
import { refusalOf } from "./refusal.ts";

/** Keeps answers of Apollo within their limits. */
export interface AnswerBound {
  /** Must come before all plugins that read answers. */
  plugin: ApolloServerPlugin<GraphqlContext>;
  /** Replaces JSON.stringify; exact numbers are written as their digits. */
  stringifyResult(result: FormattedExecutionResult): Promise<string>;
}

/**
 * Most field errors that are sent with the result of a mutation: thousands of fields may exceed the same
 * limit.
 */
const MAX_ERRORS = 100;

/** Measures each answer before it becomes text; large answers wait for their part of the budget. */
export function createAnswerBound(
  schema: GraphQLSchema,
  formatError: ReturnType<typeof createFormatError>,
): AnswerBound {
  /** Context and size of large answers, by their data. */
  const large = new WeakMap<object, { context: GraphqlContext; sizeBytes: number }>();
  const errorsOf = (error: ApiError) => [formatError({ message: "" }, error)];

  return {
    plugin: {
      async requestDidStart() {
        return {
          async didResolveOperation({ operation, document, contextValue }) {
            if (operation?.operation === "mutation") contextValue.bytes.waitWithoutTimeout();
            if (operation?.operation !== "query" || !isHeavyList(schema, document)) return;
            try {
              await contextValue.bytes.claim();
            } catch (error) {
              throw error instanceof OverloadedError ? refusalOf(error) : error;
            }
          },
          // Must not wait: later plugins read the result at once.
          async willSendResponse({ contextValue, operation, response: { body, http } }) {
            if (body.kind !== "single") return;
            const { bytes } = contextValue;
            const failure = bytes.failure();
            if (failure && operation?.operation === "query") {
              const isRefused = failure.code === "OVERLOADED";
              // A refused operation did nothing, and has no data.
              body.singleResult = { ...(isRefused ? {} : { data: null }), errors: errorsOf(failure) };
              if (!isRefused) return;
              http.status = statusOf(failure.code);
              for (const [name, value] of Object.entries(headersOf(failure))) http.headers.set(name, value);
              return;
            }
            const { singleResult } = body;
            if (failure) singleResult.errors = singleResult.errors?.slice(0, MAX_ERRORS) ?? [];
            const { maxBytes } = bytes.limits;
            const sizeBytes = jsonBytes(singleResult, maxBytes);
            if (sizeBytes > maxBytes) {
              body.singleResult = { data: null, errors: errorsOf(new AnswerTooLargeError(maxBytes)) };
            } else if (sizeBytes > LIGHT_ANSWER_BYTES && singleResult.data) {
              large.set(singleResult.data, { context: contextValue, sizeBytes });
            }
          },
        };
      },
    },
    async stringifyResult(result) {
      const found = result.data ? large.get(result.data) : undefined;
      if (!found) return `${stringifyExactJson(result)}\n`;
      const { bytes } = found.context;
      try {
        await bytes.sending(found.sizeBytes);
        return `${await stringifyInSlices(result, bytes.limits)}\n`;
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        return `${JSON.stringify({ data: null, errors: errorsOf(error) })}\n`;
      }
    },
  };
}
