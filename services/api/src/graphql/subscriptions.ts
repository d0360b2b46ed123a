import type { IncomingHttpHeaders } from "node:http";
import {
  createSourceEventStream,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  GraphQLError,
  getOperationAST,
  parse,
  specifiedRules,
  validate,
} from "graphql";
import { LRUCache } from "lru-cache";
import type { CredentialWatch } from "../access/credential-watch.ts";
import type { Caller } from "../access/gate.ts";
import { AnswerTooLargeError, type ApiError, UnauthenticatedError } from "../errors/api-error.ts";
import { answeredCode, maskError } from "../errors/format-error.ts";
import { noteLogFacts } from "../errors/telemetry.ts";
import {
  type AnswerBytes,
  type Grant,
  jsonBytes,
  LIGHT_ANSWER_BYTES,
  stringifyInSlices,
} from "../load/answer-bytes.ts";
import type { GraphqlContext } from "../operation/context.ts";
import { DOCUMENT_LIMITS, type Pipeline } from "./pipeline.ts";

/** The results of a subscription. */
type Results = AsyncIterableIterator<ExecutionResult>;

/** The type of `subscribe` in graphql-js. The context value is a {@link GraphqlContext}. */
export type Subscribe = (args: ExecutionArgs) => Promise<Results | ExecutionResult>;

/** The parameters of a client. */
interface SubscriptionParams {
  query: string;
  variables?: Record<string, unknown> | null | undefined;
  operationName?: string | null | undefined;
}

/** A subscription that may start. */
interface PreparedSubscription extends ExecutionArgs {
  contextValue: GraphqlContext;
}

/** Dependencies of {@link createSubscriptions}. */
interface SubscriptionsDependencies {
  pipeline: Pipeline;
  /** A new context for a subscription of this caller. */
  context: (caller: Caller) => GraphqlContext;
  /** Ends subscriptions when their credential ends. */
  credentials: Pick<CredentialWatch, "follow">;
}

/** All subscriptions of a process. WebSocket and server-sent events only carry them. */
export interface Subscriptions {
  /** The arguments for `subscribe`, or the errors to send: the document or its caller is refused. */
  prepare(
    caller: Caller,
    headers: IncomingHttpHeaders,
    params: SubscriptionParams,
  ): Promise<PreparedSubscription | readonly GraphQLError[]>;
  /** Gives results whose errors are ready to be sent. A transport writes them with `fill`. */
  subscribe: Subscribe;
  /** A message of a transport with the texts of large results in place of their marks. */
  fill: MadeTexts["fill"];
  /** An error of a transport, ready to be sent. */
  shown: (error: Error) => GraphQLError;
}

/** Limits of the cache of valid documents: many clients with the same document need only one check. */
const REMEMBERED = { max: 100, maxLength: 10_000 } as const;

/** The subscriptions of a process: documents pass the pipeline of all operations, equal ones share their results. */
export function createSubscriptions({
  pipeline,
  context,
  credentials,
}: SubscriptionsDependencies): Subscriptions {
  const { schema, formatError } = pipeline;
  const rules = [...pipeline.rules, ...specifiedRules];
  const valid = new LRUCache<string, DocumentNode>({ max: REMEMBERED.max });
  const texts = createMadeTexts();
  const shown = (error: Error): GraphQLError =>
    maskError(error instanceof GraphQLError ? error : toGraphqlError(error), formatError);

  /** The document (the same object for the same text), or its errors. */
  function read(query: string): DocumentNode | readonly GraphQLError[] {
    const known = valid.get(query);
    if (known) return known;
    let document: DocumentNode;
    try {
      document = parse(query, { maxTokens: DOCUMENT_LIMITS.tokens });
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;
      return [withCode(error, "GRAPHQL_PARSE_FAILED")];
    }
    const found = validate(schema, document, rules);
    if (found.length > 0) return found.map((error) => withCode(error, "GRAPHQL_VALIDATION_FAILED"));
    if (query.length <= REMEMBERED.maxLength) valid.set(query, document);
    return document;
  }

  async function check(
    contextValue: GraphqlContext,
    headers: IncomingHttpHeaders,
    { query, variables, operationName }: SubscriptionParams,
  ): Promise<PreparedSubscription | readonly GraphQLError[]> {
    const document = read(query);
    if (!("kind" in document)) return document;
    const operation = getOperationAST(document, operationName);
    if (!operation) {
      const message = "The document has several operations, or none with the given name";
      return [new GraphQLError(message, { extensions: { code: "OPERATION_RESOLUTION_FAILURE" } })];
    }
    if (operation.operation !== "subscription") {
      const message = "Only subscriptions are supported here: send queries and mutations by POST to /graphql";
      return [new GraphQLError(message, { extensions: { code: "BAD_REQUEST" } })];
    }
    const readHeader = (name: string) => headers[name];
    await pipeline.begin(contextValue, { document, operation, variables, readHeader });
    return { schema, document, variableValues: variables, operationName, contextValue };
  }

  const followed = endWithCredential(createSharedSubscribe(), credentials);
  return {
    async prepare(caller, headers, params) {
      const contextValue = context(caller);
      const checked = await check(contextValue, headers, params).catch((error: unknown) => {
        if (!(error instanceof Error)) throw error;
        return [error];
      });
      if ("document" in checked) return checked;
      const errors = checked.map(shown);
      pipeline.end(contextValue, errors);
      return errors;
    },
    subscribe: observeSubscribe(boundSubscribe(followed, texts), pipeline, shown),
    fill: texts.fill,
    shown,
  };
}

/** Adds the code that Apollo would add. */
function withCode(error: GraphQLError, code: string): GraphQLError {
  return Object.assign(error, { extensions: { code, ...error.extensions } });
}

/**
 * Ends each subscription in the pipeline at its end or when its reader leaves, makes its errors ready to be sent,
 * and adds the requestId to their log lines.
 */
function observeSubscribe(
  subscribe: Subscribe,
  pipeline: Pick<Pipeline, "end">,
  shown: Subscriptions["shown"],
): Subscribe {
  return async (args) => {
    const context = args.contextValue as GraphqlContext;
    let first: Pick<GraphQLError, "extensions"> | undefined;
    const ended = (): void => pipeline.end(context, first && [first]);
    const show = (result: ExecutionResult): ExecutionResult => {
      const { data = null, errors: found } = result;
      if (!found) return result;
      for (const error of found) noteLogFacts(error, context.operation.logFacts());
      const errors = found.map(shown);
      first ??= errors[0];
      return { ...result, data, errors };
    };
    const results = await subscribe(args);
    if (!(Symbol.asyncIterator in results)) {
      const result = show(results);
      ended();
      return result;
    }
    return resultsIterator(
      async () => {
        try {
          const result = await results.next();
          if (!result.done) return { done: false, value: show(result.value) };
          ended();
          return result;
        } catch (error) {
          noteLogFacts(error, context.operation.logFacts());
          first ??= { extensions: { code: answeredCode(error) } };
          ended();
          throw error;
        }
      },
      async () => {
        ended();
        await results.return?.();
      },
    );
  };
}

/** How long a result is shared, in milliseconds: its durations and wait reasons are those at its creation. */
const SHARED_FOR_MS = 500;

/** The context of the subscription for which the result was made. */
type SharedContext = { bytes?: Pick<AnswerBytes, "release"> };

interface Shared {
  madeAt: number;
  result: Promise<ExecutionResult>;
}

/**
 * The `subscribe` of graphql-js, but with one result for all readers of the same state with the same document
 * and variables: a thousand readers of a request cost little more than one. Only for sources whose states
 * belong to one tenant, and whose fields do not depend on the reader.
 */
export function createSharedSubscribe(now: () => number = () => performance.now()) {
  const made = new WeakMap<object, Map<string, Shared>>();
  const names = new WeakMap<object, string>();
  let documents = 0;

  /** Equal documents are one object, see {@link createSubscriptions}. */
  function keyOf({ document, operationName, variableValues }: ExecutionArgs): string {
    const name = names.get(document) ?? `${documents++}`;
    names.set(document, name);
    return JSON.stringify([name, operationName ?? null, variableValues ?? null]);
  }

  function resultOf(args: ExecutionArgs, key: string, state: unknown): Promise<ExecutionResult> {
    const run = async () => {
      try {
        return await execute({ ...args, rootValue: state });
      } finally {
        (args.contextValue as SharedContext | undefined)?.bytes?.release();
      }
    };
    if (typeof state !== "object" || state === null) return run();
    const results = made.get(state) ?? new Map<string, Shared>();
    made.set(state, results);
    const shared = results.get(key);
    if (shared && now() - shared.madeAt < SHARED_FOR_MS) return shared.result;
    const result = run();
    results.set(key, { madeAt: now(), result });
    return result;
  }

  return async (args: ExecutionArgs): Promise<Results | ExecutionResult> => {
    const source = await createSourceEventStream(args);
    if (!(Symbol.asyncIterator in source)) return source;
    const states = source[Symbol.asyncIterator]();
    const key = keyOf(args);
    return resultsIterator(
      async () => {
        const { done, value } = await states.next();
        return done ? { done, value: undefined } : { done: false, value: await resultOf(args, key, value) };
      },
      async () => states.return?.(),
    );
  };
}

/**
 * Ends each subscription when the credential of its caller ends. The last result is an error with the reason,
 * because the protocols have no common way to end with one.
 */
function endWithCredential(subscribe: Subscribe, credentials: Pick<CredentialWatch, "follow">): Subscribe {
  return async (args) => {
    const results = await subscribe(args);
    if (!(Symbol.asyncIterator in results)) return results;
    const { caller } = args.contextValue as GraphqlContext;
    let hasEnded = false;
    let isErrorSent = false;
    let wake: (() => void) | undefined;
    const leave = credentials.follow(caller, () => {
      hasEnded = true;
      wake?.();
    });

    const nextUnlessEnded = async (): Promise<IteratorResult<ExecutionResult> | "ended"> => {
      if (hasEnded) return "ended";
      // A new promise for each result: a shared one would keep the handlers of every wait.
      const ended = new Promise<"ended">((resolve) => {
        wake = () => resolve("ended");
      });
      const found = await Promise.race([ended, results.next()]);
      return hasEnded ? "ended" : found;
    };

    return resultsIterator(
      async () => {
        if (isErrorSent) return { done: true, value: undefined };
        try {
          const found = await nextUnlessEnded();
          if (found === "ended") {
            isErrorSent = true;
            await results.return?.();
            return { done: false, value: failedResult(new UnauthenticatedError("ended")) };
          }
          if (found.done) leave();
          return found;
        } catch (error) {
          leave();
          throw error;
        }
      },
      async () => {
        leave();
        await results.return?.();
      },
    );
  };
}

/**
 * JSON texts of large results. The libraries of the protocols make the text of a message by JSON.stringify, which
 * blocks the process for as long as the message is large: they get a mark in place of the data of a large result,
 * and the text replaces the mark when the message is written.
 */
interface MadeTexts {
  /** Keeps a text. @returns what stands for it in a result, and a function that forgets the text */
  keep: (text: string) => { mark: string; forget: () => void };
  /** A message with the kept text in place of its mark. */
  fill: (message: string) => string;
}

/** No texts yet. */
export function createMadeTexts(): MadeTexts {
  // What clients and tools write cannot contain it.
  const prefix = crypto.randomUUID();
  const texts = new Map<string, string>();
  let count = 0;
  return {
    keep(text) {
      count += 1;
      const mark = `${prefix}:${count}`;
      texts.set(mark, text);
      return { mark, forget: () => void texts.delete(mark) };
    },
    fill(message) {
      const start = texts.size === 0 ? -1 : message.indexOf(`"${prefix}:`);
      if (start === -1) return message;
      const end = message.indexOf('"', start + 1);
      const text = texts.get(message.slice(start + 1, end));
      return text === undefined ? message : message.slice(0, start) + text + message.slice(end + 1);
    },
  };
}

/**
 * Keeps the results of subscriptions within the limits of answers. A large result waits for a grant of the
 * budget, and its text is made in slices, once for all its readers; meanwhile newer states replace the next
 * result. The grant is released when the next result is requested: by then this one was sent.
 */
export function boundSubscribe(subscribe: Subscribe, texts: Pick<MadeTexts, "keep">): Subscribe {
  /** By the data of results, which readers of the same state share; as long as its maker sends it. */
  const made = new WeakMap<object, Promise<string>>();

  return async (args) => {
    const results = await subscribe(args);
    if (!(Symbol.asyncIterator in results)) return results;
    const { bytes, tenant } = args.contextValue as GraphqlContext;
    const { limits } = bytes;
    const { maxBytes, budget } = limits;
    const disconnected = new AbortController();
    let grant: Grant | undefined;
    let forgetText = (): void => undefined;
    const release = (): void => {
      grant?.release();
      grant = undefined;
      forgetText();
      forgetText = () => undefined;
    };

    const hold = async (sizeBytes: number): Promise<void> => {
      const request = { tenant, bytes: sizeBytes, hasNoTimeout: true, signal: disconnected.signal };
      grant = await budget.acquire(request);
    };

    /** The text of the data, under a grant of its size. @throws {AnswerTooLargeError} */
    async function textOf(data: object): Promise<string> {
      const known = made.get(data);
      if (known) {
        const text = await known;
        await hold(Buffer.byteLength(text));
        return text;
      }
      // Its size is not known before it is made: to measure it would block the process too.
      await hold(maxBytes);
      const making = stringifyInSlices(data, limits);
      made.set(data, making);
      forgetText = () => void made.delete(data);
      const text = await making;
      grant?.shrink(Buffer.byteLength(text));
      return text;
    }

    /** A large result with a mark in place of its data. @throws {AnswerTooLargeError} */
    async function marked({ data, ...rest }: ExecutionResult): Promise<ExecutionResult> {
      if (jsonBytes(rest.errors ?? null, maxBytes) > maxBytes) throw new AnswerTooLargeError(maxBytes);
      if (!data) return rest;
      const { mark, forget } = texts.keep(await textOf(data));
      const forgetMade = forgetText;
      forgetText = () => {
        forgetMade();
        forget();
      };
      if (disconnected.signal.aborted) release();
      return { ...rest, data: mark as unknown as Record<string, unknown> };
    }

    return resultsIterator(
      async () => {
        release();
        const next = await results.next();
        if (next.done || jsonBytes(next.value, LIGHT_ANSWER_BYTES) <= LIGHT_ANSWER_BYTES) return next;
        try {
          return { done: false, value: await marked(next.value) };
        } catch (error) {
          release();
          if (error instanceof AnswerTooLargeError) return { done: false, value: failedResult(error) };
          throw error;
        }
      },
      async () => {
        disconnected.abort();
        release();
        await results.return?.();
      },
    );
  };
}

/**
 * An iterator made of functions. Not a generator: a generator that waits for its next result is not notified
 * when its reader leaves. It has all methods of a generator, because graphql-sse does not end an iterator
 * without `throw`.
 *
 * @param leave - called when the reader leaves
 */
export function resultsIterator(next: Results["next"], leave: () => Promise<unknown>): Results {
  const results: Results = {
    next,
    async return() {
      await leave();
      return { done: true, value: undefined };
    },
    async throw(error) {
      await leave();
      throw error;
    },
    [Symbol.asyncIterator]: () => results,
  };
  return results;
}

/** One of our errors, wrapped as graphql-js expects it. */
function toGraphqlError(error: Error): GraphQLError {
  return new GraphQLError(error.message, { originalError: error });
}

/** A result that contains only an error. */
function failedResult(error: ApiError): ExecutionResult {
  return { data: null, errors: [toGraphqlError(error)] };
}
