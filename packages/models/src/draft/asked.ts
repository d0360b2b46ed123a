import type { JsonObject } from "@planwright/plan";
import type { SentMessage } from "./sent-message.ts";

/** The form that an answer is to have. */
export interface AnswerSchema {
  /** Of letters, digits and underscores. */
  name: string;
  description: string;
  schema: JsonObject;
}

/** A tool as a provider takes it: a model calls it by the provider's own means. */
export interface OfferedTool {
  /** Letters, digits, `_` and `-`, at most 64. */
  name: string;
  description: string;
  schema: JsonObject;
}

/** What a model is asked: the same for every model and every try. */
export interface Asked {
  messages: readonly SentMessage[];
  schema?: AnswerSchema | undefined;
  tools?: readonly OfferedTool[] | undefined;
}
