import type { JsonObject } from "@planwright/plan";
import { openAiEvents, openAiUsage } from "./model-server-openai.ts";
import type { ModelRequest, ScriptedAnswer } from "./model-server-reply.ts";

/** Fields of OpenAI's protocol that Mistral refuses. */
const UNKNOWN_FIELDS = ["stream_options", "max_completion_tokens", "store"];

/** The first field of a request that Mistral refuses as unknown. */
export const refusedField = (body: JsonObject) => UNKNOWN_FIELDS.find((name) => Object.hasOwn(body, name));

/** As OpenAI's stream, but usage always comes, and in the chunk that says how the answer ended. */
export const mistralEvents = (reply: ScriptedAnswer, request: ModelRequest): string[] =>
  openAiEvents(reply, request, { usage: openAiUsage(reply, request) });

/** An error as Mistral sends it: flat, and with the parts of a request that are refused as objects. */
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
