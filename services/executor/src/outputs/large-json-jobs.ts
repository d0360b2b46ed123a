/** What is done with large JSON beside the event loop. Jobs and their results are plain data. */
import {
  type Answer,
  answerQuestion,
  fromSent,
  type Question,
  resolveUnresolved,
  type Sent,
  type StepError,
  type UnresolvedArguments,
} from "@planwright/engine";
import {
  isJsonObject,
  type JsonObject,
  LARGE_JSON_BYTES,
  parseExactJson,
  type SecretPlace,
  sha256,
  stringifyExactJson,
  unmarkNumbers,
} from "@planwright/plan";
import { type LargeAnswer, type ReadAnswer, readLargeAnswer } from "@planwright/tools";
import { presentIn, type SecretValues, withSecrets } from "../secrets/secrets.ts";

/** A job. */
export type LargeJob =
  /** Read a message of a tool server. */
  | { type: "read"; answer: LargeAnswer }
  /**
   * @property asObject - the arguments are needed as an object, whatever their size
   * @property secrets - the places of secrets in the plan
   */
  | {
      type: "resolve";
      unresolved: Sent<UnresolvedArguments>;
      asObject: boolean;
      secrets: readonly SecretPlace[];
    }
  /** Write the values of secrets into large arguments. */
  | { type: "fill"; large: LargeArguments; values: SecretValues }
  /** Answer a question of the engine. */
  | { type: "answer"; question: Sent<Question> };

/** Arguments of a call as they are sent and stored. */
export interface LargeArguments {
  /** Their JSON text in UTF-8. */
  bytes: Uint8Array<ArrayBuffer>;
  argsHash: string;
  /** The beginning of the text. */
  beginning: string;
  /** Where they have the names of secrets. */
  secrets: readonly SecretPlace[];
}

/** Resolved arguments: an object, or the text of large ones. */
export type ResolvedArguments =
  | { ok: true; arguments: JsonObject; large?: LargeArguments; warnings: readonly string[] }
  | { ok: false; error: StepError };

/** The result of a job. */
export type LargeResult = ReadAnswer | ResolvedArguments | Answer | FilledArguments;

/** Arguments with secrets: their JSON text in UTF-8. */
export type FilledArguments = Pick<LargeArguments, "bytes">;

/** Longest beginning that is kept of large arguments, in characters. */
const BEGINNING_CHARS = 1_024;

/** Does a job. */
export function performJob(job: LargeJob): LargeResult {
  switch (job.type) {
    case "read":
      return readLargeAnswer(job.answer);
    case "resolve":
      return resolveArguments(job);
    case "fill": {
      const { large, values } = job;
      const args = parseExactJson(new TextDecoder().decode(large.bytes));
      const filled = withSecrets(isJsonObject(args) ? args : {}, large.secrets, values);
      return { bytes: new TextEncoder().encode(stringifyExactJson(filled)) };
    }
    case "answer":
      return answerQuestion(fromSent<Question>(job.question));
  }
}

function resolveArguments({
  unresolved,
  asObject,
  secrets,
}: Extract<LargeJob, { type: "resolve" }>): ResolvedArguments {
  const resolved = resolveUnresolved(fromSent<UnresolvedArguments>(unresolved));
  if (!resolved.ok || asObject) return resolved;
  // The hash of arguments is over this form, in which exact numbers are marked.
  const written = JSON.stringify(resolved.arguments);
  if (written.length <= LARGE_JSON_BYTES) return resolved;
  const text = unmarkNumbers(written);
  const large = {
    bytes: new TextEncoder().encode(text),
    argsHash: sha256(written),
    beginning: text.slice(0, BEGINNING_CHARS),
    secrets: presentIn(resolved.arguments, secrets),
  };
  return { ok: true, arguments: {}, large, warnings: resolved.warnings };
}
