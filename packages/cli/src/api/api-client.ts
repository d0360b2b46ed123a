import { isJsonObject, type JsonValue, JsonValueSchema } from "@planwright/plan";
import { z } from "zod";
import { ApiRefusedError, ApiUnreachableError, NotTheApiError } from "../errors.ts";

/** One GraphQL operation, and what its answer looks like. */
export interface Operation<T> {
  document: string;
  schema: z.ZodType<T>;
}

/** Speaks to the API. */
export interface ApiClient {
  readonly url: string;
  /**
   * One operation; the answer is what `data` holds.
   * @throws {ApiUnreachableError | NotTheApiError | ApiRefusedError} or the reason of `signal`
   */
  ask<T>(operation: Operation<T>, variables?: Record<string, JsonValue | undefined>): Promise<T>;
}

/** How to reach it. */
export interface ApiClientOptions {
  url: string;
  /** Sent as a bearer token. */
  token?: string | undefined;
  /** Ends calls under way; its reason is thrown. */
  signal: AbortSignal;
  /** Longest that one call may take, in milliseconds. Default 30,000. */
  callTimeoutMs?: number;
}

const AnswerSchema = z.object({
  data: z.unknown().optional(),
  errors: z
    .array(
      z.object({
        message: z.string(),
        extensions: z.record(z.string(), JsonValueSchema).optional(),
      }),
    )
    .optional(),
});

/** A client over fetch. What it answers is as strangers wrote it: nothing of it goes to a terminal as it is. */
export function createApiClient(options: ApiClientOptions): ApiClient {
  const { url, token, signal, callTimeoutMs = 30_000 } = options;
  const headers = {
    "content-type": "application/json",
    accept: "application/graphql-response+json, application/json",
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };

  async function send(body: string): Promise<{ status: number; text: string }> {
    try {
      const response = await fetch(url, {
        method: "POST",
        headers,
        body,
        // The token is for this address, and for no other that it may point to.
        redirect: "error",
        signal: AbortSignal.any([signal, AbortSignal.timeout(callTimeoutMs)]),
      });
      return { status: response.status, text: await response.text() };
    } catch (error) {
      signal.throwIfAborted();
      throw new ApiUnreachableError(url, reasonOf(error, callTimeoutMs), error);
    }
  }

  return {
    url,
    async ask({ document, schema }, variables = {}) {
      const { status, text } = await send(JSON.stringify({ query: document, variables }));
      const { data, errors } = parseAnswer(text) ?? { errors: undefined, data: undefined };
      const [first] = errors ?? [];
      if (first) throw refusal(first.message, first.extensions ?? {});
      const parsed = schema.safeParse(data);
      if (!parsed.success) throw new NotTheApiError(url, status, parsed.error);
      return parsed.data;
    },
  };
}

function parseAnswer(text: string): z.infer<typeof AnswerSchema> | undefined {
  try {
    return AnswerSchema.parse(JSON.parse(text));
  } catch {
    return undefined; // told as what it is by the caller: nothing that the API says
  }
}

function refusal(message: string, extensions: Record<string, JsonValue>): ApiRefusedError {
  const { code, retryable, remedy, ...facts } = extensions;
  return new ApiRefusedError(message, {
    code: typeof code === "string" ? code : "UNKNOWN",
    retryable: retryable === true,
    remedy: typeof remedy === "string" ? remedy : null,
    facts: isJsonObject(facts) ? facts : {},
  });
}

/** Why a call had no answer, in a few words. */
function reasonOf(error: unknown, callTimeoutMs: number): string {
  if (!(error instanceof Error)) return "unknown";
  if (error.name === "TimeoutError") return `no answer within ${callTimeoutMs / 1_000} s`;
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : undefined;
  // An address with two families fails with a list, whose own message is empty.
  return cause.message || code || error.message;
}
