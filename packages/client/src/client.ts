import { print } from "@0no-co/graphql.web";
import type { JsonValue } from "@planwright/plan";
import type { VariablesOf } from "gql.tada";
import { ApiRefusedError } from "./errors.ts";
import { createPolling, createStreaming, type FollowOptions } from "./follow.ts";
import { FOLLOW_REQUEST, type FullRequest, READ_FULL, READ_RUN, type RequestRun } from "./run.ts";
import { type Given, graphql, type Operation } from "./schema/graphql.ts";
import { sendAgain } from "./send-again.ts";
import { type CallOptions, createTransport, type TransportOptions } from "./transport.ts";

const ASK = graphql(`
  mutation (
    $query: String!, $execute: Boolean! = true, $tags: [String!], $priority: Priority! = normal,
    $maxReplans: Int! = 0, $answer: Boolean! = false, $idempotencyKey: String!
  ) {
    request: createPlan(
      query: $query, execute: $execute, tags: $tags, priority: $priority,
      maxReplans: $maxReplans, answer: $answer, idempotencyKey: $idempotencyKey
    ) { requestId }
  }
`);
const SUBMIT = graphql(`
  mutation (
    $plan: JSON!, $query: String, $execute: Boolean! = true, $tags: [String!], $priority: Priority! = normal,
    $maxReplans: Int! = 0, $answer: Boolean! = false, $idempotencyKey: String!
  ) {
    request: submitPlan(
      plan: $plan, query: $query, execute: $execute, tags: $tags, priority: $priority,
      maxReplans: $maxReplans, answer: $answer, idempotencyKey: $idempotencyKey
    ) { requestId }
  }
`);

/**
 * A plan in any dialect that `submitPlan` accepts: an object or a list. The API checks it and reports every error;
 * `PlanDocument` of @planwright/plan is the type of one dialect.
 */
export type PlanInput = object;

/** Options of a request, as `createPlan` and `submitPlan` describe them. */
export interface SubmitOptions extends Omit<VariablesOf<typeof SUBMIT>, "plan" | "idempotencyKey"> {
  /**
   * The same key within 24 h gives the same request and executes nothing twice. Default: a new one for each call,
   * so that a lost answer is safe.
   */
  idempotencyKey?: string | undefined;
  /** Ends the call; its reason is thrown. A request that was accepted continues. */
  signal?: AbortSignal | undefined;
}

/** Sends operations to the API. */
export interface Client {
  readonly url: string;
  /**
   * Sends a sentence, for which a plan is made, or a ready plan. Returns the id of the request once it is stored.
   * @throws {ApiRefusedError} with the code PLAN_INVALID and every diagnostic, for a plan with errors
   */
  submit(input: string | PlanInput, options?: SubmitOptions): Promise<string>;
  /**
   * Submits, follows, and returns the request in full when it has ended or waits for a client or operator: its
   * status, outputs and diagnosis say how it ended. A plan that fails is no error of this call.
   * @param options - `until` and `onTrouble` are those of {@link Client.follow}
   */
  run(
    input: string | PlanInput,
    options?: SubmitOptions & Pick<FollowOptions, "until" | "onTrouble">,
  ): Promise<FullRequest>;
  /** Reads a request in full: its run, its outputs when it has ended, and its diagnosis. */
  request(requestId: string, options?: CallOptions): Promise<FullRequest>;
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
    async submit(input, { signal, idempotencyKey = crypto.randomUUID(), ...options } = {}) {
      const variables = { ...options, idempotencyKey };
      const send = () =>
        typeof input === "string"
          ? client.execute(ASK, { ...variables, query: input }, { signal })
          : client.execute(SUBMIT, { ...variables, plan: toJson(input) }, { signal });
      return (await sendAgain(send, { isKeyed: true, signal })).request.requestId;
    },
    async run(input, { until, onTrouble, ...options } = {}) {
      const { signal } = options;
      const requestId = await client.submit(input, options);
      for await (const _ of client.follow(requestId, { until, onTrouble, signal, wasAccepted: true }));
      return sendAgain(() => client.request(requestId, { signal }), { isKeyed: true, signal });
    },
    request: (requestId, call) => client.readRequest(READ_FULL, requestId, call),
  };
  return client;
}

/** A plan may have members that are undefined, which JSON leaves out. */
function toJson(plan: PlanInput): JsonValue {
  return JSON.parse(JSON.stringify(plan));
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
