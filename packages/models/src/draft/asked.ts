import type { JsonObject } from "@planwright/plan";
import type { SentMessage } from "./sent-message.ts";

/** The form that an answer must have. */
export interface AnswerSchema {
  /** Letters, digits and underscores. */
  name: string;
  description: string;
  schema: JsonObject;
}

/** A tool as a provider receives it; a model calls it by the provider's tool calling. */
export interface OfferedTool {
  /** Letters, digits, `_` and `-`, at most 64. */
  name: string;
  description: string;
  schema: JsonObject;
}

/** A question to a model: the same for every model and every try. */
export interface Asked {
  messages: readonly SentMessage[];
  schema?: AnswerSchema | undefined;
  tools?: readonly OfferedTool[] | undefined;
}
