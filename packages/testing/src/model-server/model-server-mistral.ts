import type { JsonObject } from "@planwright/plan";
import { openAiEvents, openAiUsage } from "./model-server-openai.ts";
import type { ModelRequest, ScriptedAnswer } from "./model-server-reply.ts";

/** Fields of OpenAI's protocol that Mistral refuses. */
const UNKNOWN_FIELDS = ["stream_options", "max_completion_tokens", "store"];

/** The first field of a request that Mistral refuses as unknown. */
export const refusedField = (body: JsonObject) => UNKNOWN_FIELDS.find((name) => Object.hasOwn(body, name));

/** Like OpenAI's stream, but usage is always sent, in the chunk with the finish reason. */
export const mistralEvents = (reply: ScriptedAnswer, request: ModelRequest): string[] =>
  openAiEvents(reply, request, { usage: openAiUsage(reply, request) });

/** An error in Mistral's form: flat, with an object that lists the refused parts of a request. */
export const mistralError = (status: number, message: string): JsonObject =>
  status === 401
    ? { message, request_id: "scripted" }
    : {
        object: "error",
        message: status === 422 ? { detail: [{ type: "extra_forbidden", msg: message }] } : message,
        type: "invalid_request_error",
        param: null,
        code: null,
      };
