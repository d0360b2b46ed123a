import { print } from "@0no-co/graphql.web";
import { ApiRefusedError } from "./errors.ts";
import { createPolling, createStreaming, type FollowOptions } from "./follow.ts";
import { FOLLOW_REQUEST, READ_RUN, type RequestRun } from "./run.ts";
import type { Given, Operation } from "./schema/graphql.ts";
import { type CallOptions, createTransport, type TransportOptions } from "./transport.ts";

/** Sends operations to the API. */
export interface Client {
  readonly url: string;
  /**
   * Sends one query or mutation; the result is `data`.
   * @throws {ApiUnreachableError | NotTheApiError | ApiRefusedError} or the reason of a signal
   */
  execute<Result, Variables>(
    operation: Operation<Result, Variables>,
    variables: Given<Variables>,
    options?: CallOptions,
  ): Promise<Result>;
  /**
   * One subscription over server-sent events: yields `data` of each event until the API ends the stream.
   * @throws {ApiUnreachableError} also when the stream breaks off, {NotTheApiError | ApiRefusedError} or the
   * reason of a signal
   */
  subscribe<Result, Variables>(
    operation: Operation<Result, Variables>,
    variables: Given<Variables>,
    options?: CallOptions,
  ): AsyncIterable<Result>;
  /**
   * Reads one request with a query of the form `query ($requestId: ID!) { request(requestId: $requestId) { …
   * } }`.
   * @throws {ApiRefusedError} with the code NOT_FOUND when there is no such request
   */
  readRequest<Request>(
    operation: Operation<{ request: Request | null }, { requestId: string }>,
    requestId: string,
    options?: CallOptions,
  ): Promise<Request>;
  /**
   * Follows a request: yields its state now, then its state after each change. Each state is complete, so
   * nothing is lost when the stream breaks off: it is opened again. If streams are blocked, the request is
   * polled.
   * @throws {ApiUnreachableError} when the API stays unreachable, {ApiRefusedError} when it does not know the
   * request
   */
  follow(requestId: string, options?: FollowOptions): AsyncIterable<RequestRun>;
  /**
   * The JSON text of an output, in pieces.
   * @param ref - from an OutputReference
   * @throws {ApiUnreachableError} also when the output breaks off, {NotTheApiError | ApiRefusedError} or the
   * reason of a signal
   */
  download(ref: string, options?: CallOptions): Promise<AsyncIterable<Uint8Array>>;
}

/** A client that uses fetch. */
export function createClient(options: TransportOptions): Client {
  const transport = createTransport(options);
  const reads = {
    progress: (requestId: string, call: CallOptions) => client.readRequest(READ_RUN, requestId, call),
    async *changes(requestId: string, call: CallOptions) {
      for await (const { request } of client.subscribe(FOLLOW_REQUEST, { requestId }, call)) yield request;
    },
  };
  const stream = createStreaming(reads, createPolling(reads));
  const client: Client = {
    url: options.url,
    execute: (operation, variables, call) => transport.execute(bodyOf(operation, variables), call),
    subscribe: (operation, variables, call) => transport.subscribe(bodyOf(operation, variables), call),
    async readRequest(operation, requestId, call) {
      const { request } = await client.execute(operation, { requestId }, call);
      if (!request) throw notFound(requestId);
      return request;
    },
    follow: stream,
    download: (ref, call) => transport.download(ref, call),
  };
  return client;
}

function bodyOf<Result, Variables>(operation: Operation<Result, Variables>, variables: Given<Variables>) {
  return { query: print(operation), variables: { ...variables } };
}

/** The schema lets `request` be null; the API answers NOT_FOUND instead. */
function notFound(requestId: string): ApiRefusedError {
  return new ApiRefusedError(`No request ${requestId}`, {
    code: "NOT_FOUND",
    retryable: false,
    remedy: null,
    path: ["request"],
    facts: { requestId },
  });
}
