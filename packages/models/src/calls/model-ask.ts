import type { AnswerSchema, OfferedTool } from "../draft/asked.ts";
import type { CallMeter } from "../draft/call-meter.ts";
import type { DraftResult } from "../draft/drafter.ts";
import type { SentMessage } from "../draft/sent-message.ts";

/** What a model is asked. */
export interface ModelAsk {
  /** System message first. */
  messages: SentMessage[];
  /** The form of the answer, for providers that support one. The answer is still raw text. */
  schema?: AnswerSchema | undefined;
  /**
   * Tools that the model may call instead of answering; never together with a `schema`. A provider without
   * tool calling is not asked.
   */
  tools?: readonly OfferedTool[] | undefined;
  /** Is told of every call before it is sent, and may refuse it. */
  meter?: CallMeter | undefined;
  signal: AbortSignal;
}

/** A chat model, with the retries, limits and the fallback that the settings name. */
export interface ModelCaller {
  /** "provider:model" of the first model. */
  readonly name: string;
  /**
   * One answer; its `model` says which model gave it.
   * @throws {DraftError} with what was sent and received until then; what the meter throws; the signal's
   * reason
   */
  ask(input: ModelAsk): Promise<DraftResult>;
}
