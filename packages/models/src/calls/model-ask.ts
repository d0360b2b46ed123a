import type { AnswerSchema, OfferedTool } from "../draft/asked.ts";
import type { CallMeter } from "../draft/call-meter.ts";
import type { DraftResult } from "../draft/drafter.ts";
import type { SentMessage } from "../draft/sent-message.ts";

/** What a model is asked. */
export interface ModelAsk {
  /** System message first. */
  messages: SentMessage[];
  /** The form of the answer, where the provider can be held to one; the answer is raw text all the same. */
  schema?: AnswerSchema | undefined;
  /** Tools that the model may call instead of answering; never beside a `schema`. A provider that takes none is not asked at all. */
  tools?: readonly OfferedTool[] | undefined;
  /** Hears of every call before it is sent, and may forbid it. */
  meter?: CallMeter | undefined;
  signal: AbortSignal;
}

/** A chat model, with the retries, limits and the fallback that the settings name. */
export interface ModelCaller {
  /** "provider:model" of the first model. */
  readonly name: string;
  /**
   * One answer. `model` of it says who gave it.
   * @throws {DraftError} a subclass, with what was sent and received as far as it came; what the meter throws; the signal's reason
   */
  ask(input: ModelAsk): Promise<DraftResult>;
}
