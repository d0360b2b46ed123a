import type { AnswerSchema, OfferedTool } from "../draft/asked.ts";
import type { CallMeter } from "../draft/call-meter.ts";
import type { DraftResult } from "../draft/drafter.ts";
import type { SentMessage } from "../draft/sent-message.ts";

/** One question to a model. */
export interface ModelAsk {
  /** System message first. */
  messages: SentMessage[];
  /** The schema of the answer, for providers that support schemas. The answer is still raw text. */
  schema?: AnswerSchema | undefined;
  /**
   * Tools that the model may call instead of answering; never together with a `schema`. A provider without
   * tool calling is not called.
   */
  tools?: readonly OfferedTool[] | undefined;
  /** Called before every call is sent; it may refuse the call. */
  meter?: CallMeter | undefined;
  signal: AbortSignal;
}

/** A chat model, with the retries, limits and the fallback of the settings. */
export interface ModelCaller {
  /** "provider:model" of the first model. */
  readonly name: string;
  /**
   * Returns one answer; its `model` is the model that answered.
   * @throws {DraftError} with everything that was sent and received; the meter's errors; the signal's reason
   */
  ask(input: ModelAsk): Promise<DraftResult>;
}
