import type { JsonObject } from "@planwright/plan";
import { anthropicBody, anthropicError, anthropicEvents } from "./model-server-anthropic.ts";
import { googleBody, googleError, googleEvents, googleStatus } from "./model-server-google.ts";
import { mistralError, mistralEvents, refusedField } from "./model-server-mistral.ts";
import { openAiBody, openAiError, openAiEvents } from "./model-server-openai.ts";
import type { ModelProtocolName, ModelRequest, ScriptedAnswer } from "./model-server-reply.ts";

/** One provider's protocol, as the server implements it. */
export interface ModelProtocol {
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
export const MODEL_PROTOCOLS: Readonly<Record<ModelProtocolName, ModelProtocol>> = {
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
export function protocolOf(
  path: string,
): { name: ModelProtocolName; groups: Partial<Record<string, string>> } | undefined {
  for (const [name, { route }] of Object.entries(MODEL_PROTOCOLS)) {
    const match = route.exec(path);
    if (match && isProtocol(name)) return { name, groups: match.groups ?? {} };
  }
  return undefined;
}

/** True for the name of a protocol. */
export const isProtocol = (name: string): name is ModelProtocolName => Object.hasOwn(MODEL_PROTOCOLS, name);
