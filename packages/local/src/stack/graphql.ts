import { CodedError } from "@planwright/plan";
import pRetry from "p-retry";
import { z } from "zod";

const AnswerSchema = z.object({
  data: z.unknown().optional(),
  errors: z
    .array(z.object({ message: z.string(), extensions: z.looseObject({ code: z.string() }).optional() }))
    .optional(),
});

/** The API answered with errors. The message is theirs; `facts.code` is the code of the first one. */
export class GraphqlError extends CodedError<{ code: string }> {
  readonly code = "GRAPHQL";
  readonly retryable = false;
}

/** One operation, and who sends it. */
export interface GraphqlOperation<T> {
  query: string;
  variables?: object;
  /** Parses the answer. */
  schema: z.ZodType<T>;
  /** Default: sent without a credential. */
  apiKey?: string | undefined;
}

/** One operation over HTTP. @throws {GraphqlError} the API's own words */
export async function graphql<T>(url: string, operation: GraphqlOperation<T>): Promise<T> {
  const { query, variables = {}, schema, apiKey } = operation;
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
    },
    body: JSON.stringify({ query, variables }),
    signal: AbortSignal.timeout(90_000),
  });
  const { data, errors } = AnswerSchema.parse(await response.json());
  if (errors?.[0]) {
    const message = errors.map((error) => error.message).join("\n");
    throw new GraphqlError(message, { code: errors[0].extensions?.code ?? "UNKNOWN" });
  }
  return schema.parse(data);
}

/** Codes of errors that go away by themselves. */
const PASSING = new Set(["UNAVAILABLE", "OVERLOADED"]);
const TRIES = 120;
const BETWEEN_TRIES_MS = 500;

/**
 * As {@link graphql}, and asked again for about a minute while the API cannot be reached or refuses for now, such as while it
 * is started again. For what may be sent twice: queries, and mutations with an idempotency key.
 */
export function graphqlPersistently<T>(url: string, operation: GraphqlOperation<T>): Promise<T> {
  return pRetry(() => graphql(url, operation), {
    retries: TRIES - 1,
    factor: 1,
    minTimeout: BETWEEN_TRIES_MS,
    shouldRetry: ({ error }) => isPassing(error),
  });
}

/** What the API says of itself, or no whole answer; an answer of another shape stays that. */
function isPassing(error: Error): boolean {
  if (error instanceof GraphqlError) return PASSING.has(error.facts.code);
  return !(error instanceof z.ZodError);
}
