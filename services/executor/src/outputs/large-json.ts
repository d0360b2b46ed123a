/**
 * Reads large answers of tools and resolves large arguments in threads, so that the event loop never builds
 * these values: heartbeats and small calls are not late because of them.
 */
import {
  type Answer,
  type Question,
  type StepError,
  toSent,
  type UnresolvedArguments,
} from "@planwright/engine";
import type { JsonObject, JsonText } from "@planwright/plan";
import { createJobThreads, type Logger, ThreadEndedError } from "@planwright/runtime";
import type { ReadLargeAnswer, ReceivedAnswer } from "@planwright/tools";
import type { Found } from "../ask-lookup.ts";
import type { SecretValues } from "../secrets.ts";
import {
  type LargeArguments,
  type LargeJob,
  type LargeResult,
  type LookupArguments,
  performJob,
  type ResolvedArguments,
  type WrittenArguments,
} from "./large-json-jobs.ts";
import type { OutputMemory } from "./output-memory.ts";

type ResolveOptions = Pick<Extract<LargeJob, { type: "resolve" }>, "isApproved" | "secrets">;

/** Large JSON beside the event loop. */
export interface LargeJson {
  read: ReadLargeAnswer;
  /** Resolves the arguments of a call. */
  resolve(unresolved: UnresolvedArguments, options: ResolveOptions): Promise<ResolvedArguments>;
  /** Writes the values of secrets into large arguments. Rejects with `ThreadEndedError` when they are too large for that. */
  fill(large: LargeArguments, values: SecretValues): Promise<Uint8Array>;
  /** The arguments of a look-up of a call with large arguments. Rejects when they cannot be resolved. */
  lookup(
    large: LargeArguments,
    template: JsonObject,
    idempotencyKey: string,
  ): Promise<JsonObject | Uint8Array>;
  /** Reads what a lookup tool answered. Rejects with a `CodedError` when it is too large for that. */
  found(answer: JsonText, outputSchema: JsonObject | undefined): Promise<Found>;
  /** Answers a question of the engine. */
  answer(question: Question): Promise<Answer>;
  /** Ends the threads; jobs that are not done fail. */
  stop(): Promise<void>;
}

/** Dependencies of {@link createLargeJson}. */
interface LargeJsonParts {
  memory?: Pick<OutputMemory, "use"> | undefined;
  logger?: Pick<Logger, "warn"> | undefined;
}

/** Starts no thread before the first job. */
export function createLargeJson({ memory, logger }: LargeJsonParts = {}): LargeJson {
  const { perform, stop } = createJobThreads<LargeJob, LargeResult>({
    file: new URL("./large-json-worker.js", import.meta.url),
    perform: performJob,
    logger,
  });
  /** Does a job for which no memory was reserved before. */
  async function performIn(bytes: number, job: LargeJob): Promise<LargeResult> {
    const done = memory?.use(bytes);
    try {
      return await perform(job);
    } finally {
      done?.();
    }
  }
  return {
    async read(answer) {
      const { message } = answer;
      const pieces = typeof message === "string" ? [message] : message;
      const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
      return (await performIn(bytes, { type: "read", answer })) as ReceivedAnswer;
    },
    async resolve(unresolved, options) {
      const job = { type: "resolve", unresolved: toSent(unresolved), ...options } as const;
      try {
        return (await perform(job)) as ResolvedArguments;
      } catch (error) {
        if (!(error instanceof ThreadEndedError)) throw error;
        const why = `The arguments of step '${unresolved.step.id}' could not be built: ${error.message}`;
        const refused = new Map(unresolved.units.map(({ key }) => [key, tooLarge(why)]));
        return { arguments: undefined, warnings: [], sent: [], itemHashes: undefined, refused };
      }
    },
    async fill(large, values) {
      return ((await perform({ type: "fill", large, values })) as WrittenArguments).bytes;
    },
    async lookup(large, template, idempotencyKey) {
      const job = { type: "lookup", large, template, idempotencyKey } as const;
      const resolved = (await perform(job)) as LookupArguments;
      return "bytes" in resolved ? resolved.bytes : resolved.arguments;
    },
    async found({ content, sizeBytes }, outputSchema) {
      return (await performIn(sizeBytes, { type: "found", content, outputSchema })) as Found;
    },
    async answer(question) {
      // Memory for all other questions was reserved.
      const isReserved = question.asks.type !== "batch";
      const job = { type: "answer", question: toSent(question) } as const;
      try {
        return (await (isReserved ? perform(job) : performIn(question.bytes, job))) as Answer;
      } catch (error) {
        if (!(error instanceof ThreadEndedError)) throw error;
        return failedAnswer(question, `Its outputs could not be read: ${error.message}`);
      }
    },
    stop,
  };
}

/** The error of a step whose large arguments or outputs could not be built or read. @param why - a sentence without its end */
export function tooLarge(why: string): StepError {
  const message = `${why}. Refer to fewer or smaller outputs`;
  return { code: "REFERENCES_TOO_LARGE", message, retryable: false };
}

function failedAnswer({ asks }: Question, why: string): Answer {
  const error = tooLarge(why);
  if (asks.type === "batch") return { type: "batch", read: null, warning: error.message };
  if (asks.type === "shortfall") return { type: "shortfall", error: { ...error, code: "ITEMS_FAILED" } };
  if (asks.type !== "part") return { type: asks.type, result: { ok: false, error } };
  const { name, room } = asks;
  return { type: "part", outputs: {}, leftOut: [{ name, steps: [], message: error.message }], room };
}
