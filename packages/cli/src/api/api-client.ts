import { CodedError, type JsonValue } from "@planwright/plan";
import { z } from "zod";
import { ApiUnreachableError } from "../errors.ts";
import { readAnswer } from "./api-answer.ts";
import { serverEvents } from "./event-stream.ts";

/** One GraphQL operation, and what its answer looks like. */
export interface Operation<T> {
  document: string;
  schema: z.ZodType<T>;
}

type Variables = Record<string, JsonValue | undefined>;

/** Speaks to the API. */
export interface ApiClient {
  readonly url: string;
  /**
   * One operation; the answer is what `data` holds.
   * @throws {ApiUnreachableError | NotTheApiError | ApiRefusedError} or the reason of `signal`
   */
  ask<T>(operation: Operation<T>, variables?: Variables): Promise<T>;
  /**
   * One subscription over server-sent events: what `data` holds, again and again, and the end when the API says so.
   * @param until - ends it
   * @throws {ApiUnreachableError} also when the stream breaks off, {NotTheApiError | ApiRefusedError} or the reason of `signal`
   */
  subscribe<T>(operation: Operation<T>, variables: Variables, until: AbortSignal): AsyncIterable<T>;
  /**
   * The JSON text of an output, as it comes.
   * @throws {ApiUnreachableError} also when it breaks off, {NotTheApiError | ApiRefusedError} or the reason of `signal`
   */
  download(ref: string): Promise<AsyncIterable<Uint8Array>>;
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

/** What an answer may be written in: one document, or a stream of events. */
const DOCUMENTS = "application/graphql-response+json, application/json";
const EVENTS = "text/event-stream";
/** Longest silence of a stream, in milliseconds; the API says every 12 s that it is there. */
const SILENCE_MS = 40_000;

/** A client over fetch. What it answers is as strangers wrote it: nothing of it goes to a terminal as it is. */
export function createApiClient(options: ApiClientOptions): ApiClient {
  const { url, token, signal, callTimeoutMs = 30_000 } = options;
  const eventsUrl = eventsUrlOf(url);

  /** Sends an operation, or asks for an address without one, and reads of the answer what is wanted in time. */
  async function send<T>(
    to: string,
    { accept, body, until = signal }: { accept: string; body?: object; until?: AbortSignal },
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new DOMException("late", "TimeoutError")), callTimeoutMs);
    try {
      const response = await fetch(to, {
        method: body ? "POST" : "GET",
        headers: {
          ...(body ? { "content-type": "application/json" } : {}),
          accept,
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
        // The token is for this address, and for no other that it may point to.
        redirect: "error",
        signal: AbortSignal.any([signal, until, late.signal]),
      });
      return await read(response);
    } catch (error) {
      signal.throwIfAborted();
      throw new ApiUnreachableError(to, reasonOf(error, callTimeoutMs), error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** A body that may break off. */
  async function* pieces(body: AsyncIterable<Uint8Array>, from: string): AsyncGenerator<Uint8Array> {
    try {
      yield* body;
    } catch (error) {
      signal.throwIfAborted();
      throw new ApiUnreachableError(from, "the output broke off", error);
    }
  }

  return {
    url,
    async ask({ document, schema }, variables = {}) {
      const asked = { accept: DOCUMENTS, body: { query: document, variables } };
      const answer = await send(url, asked, async (response) => ({
        status: response.status,
        text: await response.text(),
      }));
      return readAnswer(answer.text, schema, { url, status: answer.status });
    },
    async download(ref) {
      const from = new URL(url);
      from.pathname = from.pathname.replace(/\/graphql\/?$/, `/outputs/${encodeURIComponent(ref)}`);
      const response = await send(from.href, { accept: "application/json" }, async (begun) => begun);
      const place = { url: from.href, status: response.status };
      if (response.ok && response.body) return pieces(response.body, from.href);
      return readAnswer(await response.text(), z.never(), place);
    },
    async *subscribe({ document, schema }, variables, until) {
      const asked = { accept: EVENTS, body: { query: document, variables }, until };
      // The time is for its beginning: it may last for hours.
      const response = await send(eventsUrl, asked, async (begun) => begun);
      const from = { url: eventsUrl, status: response.status };
      const isStream = response.headers.get("content-type")?.startsWith(EVENTS) === true;
      try {
        // A refusal comes as one document.
        if (!isStream || !response.body) return void readAnswer(await response.text(), z.never(), from);
        for await (const { event, data } of serverEvents(response.body, SILENCE_MS)) {
          if (event === "complete") return;
          if (event === "next") yield readAnswer(data, schema, from);
        }
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof CodedError) throw error;
        throw new ApiUnreachableError(eventsUrl, reasonOf(error, callTimeoutMs), error);
      }
      throw new ApiUnreachableError(eventsUrl, "the stream broke off");
    },
  };
}

/** Subscriptions are answered one level below. */
function eventsUrlOf(url: string): string {
  const events = new URL(url);
  events.pathname = `${events.pathname.replace(/\/$/, "")}/stream`;
  return events.href;
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
