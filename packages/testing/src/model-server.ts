import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { isJsonObject, type JsonObject } from "@planwright/plan";
import {
  answer,
  anthropicBody,
  anthropicError,
  anthropicEvents,
  type ModelProtocolName,
  type ModelRequest,
  openAiBody,
  openAiError,
  openAiEvents,
  openAiUsage,
  piecesOf,
  type ScriptedAnswer,
  type ScriptedReply,
  usageOf,
} from "./model-server-reply.ts";

/** Chooses the reply to a request. It is used before the queue. */
export type ModelScript = (request: ModelRequest) => ScriptedReply | Promise<ScriptedReply>;

/** A chat model over real HTTP that answers as the test scripts it. */
export interface ModelServer {
  /** Value for `OPENAI_BASE_URL`. */
  openAiUrl: string;
  /** Value for `ANTHROPIC_BASE_URL`. */
  anthropicUrl: string;
  /** Value for `GOOGLE_BASE_URL`. */
  googleUrl: string;
  /**
   * Value for the base URL of a provider with this protocol.
   * @throws {RangeError} for a protocol that the server does not speak
   */
  urlFor(protocol: string): string;
  /** All received requests, in order. */
  requests: readonly ModelRequest[];
  /** Adds replies for the next requests, one for each request. */
  enqueue(...replies: readonly (ScriptedReply | string | JsonObject)[]): void;
  /** Answers every request by a function from now on, before the queue. */
  script(script: ModelScript): void;
  /** Ends all connections, hanging ones too. */
  close(): Promise<void>;
}

/** Options of {@link startModelServer}. */
export interface ModelServerOptions {
  /** When present, any other key gets 401. */
  apiKey?: string;
  script?: ModelScript;
  /** Default: a free port. */
  port?: number;
}

const MAX_BODY_BYTES = 16 * 1_048_576;

/**
 * Starts a server on loopback with the OpenAI chat-completions protocol, the Anthropic messages protocol,
 * Google's Gemini protocol and Mistral's variant of the first one, as JSON and as stream. A request without a
 * scripted reply gets 400, which clients do not retry.
 */
export async function startModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  const requests: ModelRequest[] = [];
  const queue: ScriptedReply[] = [];
  let script = options.script;

  const replyTo = async (request: ModelRequest): Promise<ScriptedReply> => {
    if (options.apiKey !== undefined && keyOf(request) !== options.apiKey) {
      return { type: "error", status: 401, message: "Incorrect API key provided" };
    }
    const refused = MODEL_PROTOCOLS[request.protocol].refusedField?.(request.body);
    if (refused !== undefined) {
      return { type: "error", status: 422, message: `Extra inputs are not permitted: ${refused}` };
    }
    return (
      (await script?.(request)) ??
      queue.shift() ?? { type: "error", status: 400, message: "no reply is scripted" }
    );
  };

  const server = createServer((incoming, response) => {
    void (async () => {
      const path = (incoming.url ?? "").split("?")[0] ?? "";
      const protocol = protocolOf(path);
      if (incoming.method !== "POST" || protocol === undefined) {
        sendJson(response, 404, openAiError(404, "unknown path"));
        return;
      }
      const received = await readRequest(incoming, protocol.name, requests.length);
      const { model, method } = protocol.groups;
      const request =
        model === undefined
          ? received
          : {
              ...received,
              body: { ...received.body, model },
              isStream: method?.startsWith("stream") === true,
            };
      requests.push(request);
      await send(response, request, await replyTo(request));
    })().catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : undefined);
    });
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;

  const urlFor = (protocol: string) => {
    if (!isProtocol(protocol)) throw new RangeError(`The model server does not speak "${protocol}"`);
    return `${url}${MODEL_PROTOCOLS[protocol].base}`;
  };

  return {
    openAiUrl: urlFor("openai"),
    anthropicUrl: urlFor("anthropic"),
    googleUrl: urlFor("google"),
    urlFor,
    requests,
    enqueue: (...replies) => {
      queue.push(...replies.map(toReply));
    },
    script: (next) => {
      script = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function toReply(reply: ScriptedReply | string | JsonObject): ScriptedReply {
  return typeof reply === "string" || !isReply(reply) ? answer(reply) : reply;
}

const REPLY_TYPES = new Set<unknown>(["answer", "error", "hang", "cut", "raw"]);

const isReply = (reply: ScriptedReply | JsonObject): reply is ScriptedReply => REPLY_TYPES.has(reply["type"]);

async function readRequest(
  incoming: IncomingMessage,
  protocol: ModelRequest["protocol"],
  index: number,
): Promise<ModelRequest> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of incoming) {
    if (!Buffer.isBuffer(part)) continue;
    size += part.length;
    if (size <= MAX_BODY_BYTES) parts.push(part);
  }
  const body = parseBody(Buffer.concat(parts).toString("utf8"));
  const headers = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)] as const);
  return { protocol, index, headers: Object.fromEntries(headers), body, isStream: body["stream"] === true };
}

function parseBody(text: string): JsonObject {
  try {
    const body: unknown = JSON.parse(text);
    return isJsonObject(body) ? body : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

const keyOf = ({ headers }: ModelRequest) =>
  headers["x-api-key"] ?? headers["x-goog-api-key"] ?? headers["authorization"]?.replace(/^Bearer /, "");

async function send(response: ServerResponse, request: ModelRequest, reply: ScriptedReply): Promise<void> {
  const protocol: ModelProtocol = MODEL_PROTOCOLS[request.protocol];
  const { isStream } = request;
  switch (reply.type) {
    case "answer": {
      if (reply.firstTokenMs !== undefined) await wait(reply.firstTokenMs);
      if (!isStream) {
        sendJson(response, 200, protocol.body(reply, request));
        return;
      }
      const events = protocol.events(reply, request);
      startStream(response);
      for (const event of events) {
        await reply.beforeEvent?.(event);
        if (response.destroyed) return;
        response.write(event);
      }
      response.end();
      return;
    }
    case "error": {
      const message = reply.message ?? `scripted error ${reply.status}`;
      if (reply.retryAfterSeconds !== undefined)
        response.setHeader("retry-after", String(reply.retryAfterSeconds));
      sendJson(
        response,
        protocol.status?.(reply.status) ?? reply.status,
        protocol.error(reply.status, message),
      );
      return;
    }
    case "hang":
      return;
    case "cut":
      sendCut(response, request, reply);
      return;
    case "raw":
      response.writeHead(reply.status, { "content-type": reply.contentType }).end(reply.body);
      return;
  }
}

/** Sends the text before the cut, and closes the connection when it has been written. */
function sendCut(
  response: ServerResponse,
  request: ModelRequest,
  reply: Extract<ScriptedReply, { type: "cut" }>,
): void {
  const end = () => (reply.isClean === true ? response.end() : response.destroy());
  if (!request.isStream) {
    response.writeHead(200, {
      "content-type": "application/json",
      "content-length": reply.text.length + 1_000,
    });
    response.write(`{"choices":[{"message":{"content":"${reply.text.slice(0, reply.afterChars)}`, end);
    return;
  }
  const cutAnswer = answer(reply.text.slice(0, reply.afterChars));
  const { events, closingEvents } = MODEL_PROTOCOLS[request.protocol];
  startStream(response);
  response.write(events(cutAnswer, request).slice(0, -closingEvents).join(""), end);
}

function startStream(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
}

function sendJson(response: ServerResponse, status: number, body: JsonObject): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

const FINISH_REASONS = { stop: "STOP", length: "MAX_TOKENS", content_filter: "SAFETY", tool_calls: "STOP" };

/** `POST /v1beta/models/<model>:generateContent`. */
function googleBody(reply: ScriptedAnswer, request: ModelRequest): JsonObject {
  const parts: JsonObject[] = [
    ...(reply.text === undefined ? [] : [{ text: reply.text }]),
    ...(reply.toolCalls ?? []).map(({ name, arguments: args }) => ({
      functionCall: { name, args: typeof args === "string" ? {} : args },
    })),
  ];
  return chunkOf(reply, request, parts, true);
}

/** `POST /v1beta/models/<model>:streamGenerateContent?alt=sse`, one text for each event. */
function googleEvents(reply: ScriptedAnswer, request: ModelRequest): string[] {
  // The answer to a blocked prompt is one event without candidates.
  if (reply.refusal !== undefined) {
    return [event({ promptFeedback: { blockReason: "SAFETY" }, usageMetadata: { promptTokenCount: 1 } })];
  }
  const pieces = reply.text === undefined ? [] : piecesOf(reply.text, reply.chunkSize);
  const calls = (reply.toolCalls ?? []).map(({ name, arguments: args }) => ({
    functionCall: { name, args: typeof args === "string" ? {} : args },
  }));
  return [
    ...pieces.map((text) => event(chunkOf(reply, request, [{ text }], false))),
    event(chunkOf(reply, request, calls, true)),
  ];
}

/** An error in Google's form; a refused key is 400 with a reason. */
function googleError(status: number, message: string): JsonObject {
  const isKeyRefused = status === 401;
  return {
    error: {
      code: isKeyRefused ? 400 : status,
      message,
      status: STATUS_NAMES[status] ?? "INTERNAL",
      details: isKeyRefused
        ? [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID" }]
        : [],
    },
  };
}

/** The HTTP status of Google for an error. */
const googleStatus = (status: number): number => (status === 401 ? 400 : status);

const STATUS_NAMES: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "INVALID_ARGUMENT",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  503: "UNAVAILABLE",
};

const event = (data: JsonObject) => `data: ${JSON.stringify(data)}\r\n\r\n`;

/** One event. Its usage is cumulative and is in every event. */
function chunkOf(
  reply: ScriptedAnswer,
  request: ModelRequest,
  parts: JsonObject[],
  isLast: boolean,
): JsonObject {
  const { inputTokens, outputTokens, cachedInputTokens } = usageOf(reply, request);
  const finish = isLast ? { finishReason: FINISH_REASONS[reply.finishReason ?? "stop"] } : {};
  const candidates = isLast ? { candidatesTokenCount: outputTokens } : {};
  return {
    candidates: [{ content: { role: "model", parts }, index: 0, ...finish }],
    usageMetadata: {
      promptTokenCount: inputTokens,
      ...candidates,
      totalTokenCount: inputTokens + (isLast ? outputTokens : 0),
      ...(cachedInputTokens === undefined ? {} : { cachedContentTokenCount: cachedInputTokens }),
    },
    modelVersion: request.body["model"] ?? "scripted",
  };
}

/** Fields of OpenAI's protocol that Mistral refuses. */
const UNKNOWN_FIELDS = ["stream_options", "max_completion_tokens", "store"];

/** The first field of a request that Mistral refuses as unknown. */
const refusedField = (body: JsonObject) => UNKNOWN_FIELDS.find((name) => Object.hasOwn(body, name));

/** Like OpenAI's stream, but usage is always sent, in the chunk with the finish reason. */
const mistralEvents = (reply: ScriptedAnswer, request: ModelRequest): string[] =>
  openAiEvents(reply, request, { usage: openAiUsage(reply, request) });

/** An error in Mistral's form: flat, with an object that lists the refused parts of a request. */
const mistralError = (status: number, message: string): JsonObject =>
  status === 401
    ? { message, request_id: "scripted" }
    : {
        object: "error",
        message: status === 422 ? { detail: [{ type: "extra_forbidden", msg: message }] } : message,
        type: "invalid_request_error",
        param: null,
        code: null,
      };

/** One provider's protocol, as the server implements it. */
interface ModelProtocol {
  /** The path of the provider's base URL on this server. */
  base: string;
  /** Paths of its requests, with groups `model` and `method` when the path contains them. */
  route: RegExp;
  /** An answer as JSON. */
  body: (reply: ScriptedAnswer, request: ModelRequest) => JsonObject;
  /** The answer as server-sent events, one text for each event. */
  events: (reply: ScriptedAnswer, request: ModelRequest) => string[];
  error: (status: number, message: string) => JsonObject;
  /** The provider's HTTP status for an error. Default: the same status. */
  status?: (status: number) => number;
  /** Number of events without text at the end of a stream. */
  closingEvents: number;
  /** The field for which the provider refuses a request with 422. Default: none. */
  refusedField?: (body: JsonObject) => string | undefined;
}

/** The protocols that the server speaks. */
const MODEL_PROTOCOLS: Readonly<Record<ModelProtocolName, ModelProtocol>> = {
  openai: {
    base: "/v1",
    route: /^\/v1\/chat\/completions$/,
    body: openAiBody,
    events: openAiEvents,
    error: openAiError,
    closingEvents: 3,
  },
  anthropic: {
    base: "",
    route: /^\/v1\/messages$/,
    body: anthropicBody,
    events: anthropicEvents,
    error: anthropicError,
    closingEvents: 3,
  },
  google: {
    base: "",
    route: /^\/v1beta\/models\/(?<model>[^/:]+):(?<method>streamGenerateContent|generateContent)$/,
    body: googleBody,
    events: googleEvents,
    error: googleError,
    status: googleStatus,
    closingEvents: 1,
  },
  mistral: {
    base: "/mistral/v1",
    route: /^\/mistral\/v1\/chat\/completions$/,
    body: openAiBody,
    events: mistralEvents,
    error: mistralError,
    closingEvents: 2,
    refusedField,
  },
};

/** The protocol of a path; undefined for an unknown path. */
function protocolOf(
  path: string,
): { name: ModelProtocolName; groups: Partial<Record<string, string>> } | undefined {
  for (const [name, { route }] of Object.entries(MODEL_PROTOCOLS)) {
    const match = route.exec(path);
    if (match && isProtocol(name)) return { name, groups: match.groups ?? {} };
  }
  return undefined;
}

/** True for the name of a protocol. */
const isProtocol = (name: string): name is ModelProtocolName => Object.hasOwn(MODEL_PROTOCOLS, name);
