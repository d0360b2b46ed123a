/** What is done with large JSON beside the event loop. Jobs and their results are plain data. */
import {
  type Answer,
  answerQuestion,
  BEGINNING_CHARS,
  fromSent,
  type Question,
  type ResolvedCall,
  resolveUnresolved,
  type Sent,
  type UnresolvedArguments,
} from "@planwright/engine";
import {
  canonicalDigest,
  isJsonObject,
  type JsonObject,
  type JsonText,
  LARGE_JSON_BYTES,
  parseExactJson,
  resolveReferences,
  type SecretPlace,
  sha256,
  stringifyExactJson,
  textOfContent,
  unmarkNumbers,
} from "@planwright/plan";
import { type LargeAnswer, type ReceivedAnswer, readLargeAnswer } from "@planwright/tools";
import { type Found, readFound } from "../ask-lookup.ts";
import { presentIn, type SecretValues, withSecrets } from "../secrets.ts";

/** A job. */
export type LargeJob =
  /** Read a message of a tool server. */
  | { type: "read"; answer: LargeAnswer }
  /**
   * @property isApproved - they are compared with what an operator approved
   * @property secrets - the places of secrets in the plan
   */
  | {
      type: "resolve";
      unresolved: Sent<UnresolvedArguments>;
      isApproved: boolean;
      secrets: readonly SecretPlace[];
    }
  /** Resolve the arguments of a look-up, which refer to those of the call and to its key. */
  | { type: "lookup"; large: LargeArguments; template: JsonObject; idempotencyKey: string }
  /** Read what a lookup tool answered. @property outputSchema - of the tool whose call it looked up */
  | { type: "found"; content: JsonText["content"]; outputSchema: JsonObject | undefined }
  /** Write the values of secrets into large arguments. */
  | { type: "fill"; large: LargeArguments; values: SecretValues }
  /** Answer a question of the engine. */
  | { type: "answer"; question: Sent<Question> };

/** Arguments of a call as they are sent and stored. */
export interface LargeArguments {
  /** Their JSON text in UTF-8. */
  bytes: Uint8Array<ArrayBuffer>;
  argsHash: string;
  /** SHA-256 of their canonical JSON, for a call that an operator approved. */
  digest: string | undefined;
  /** The beginning of the text. */
  beginning: string;
  /** Where they have the names of secrets. */
  secrets: readonly SecretPlace[];
}

/** Resolved arguments: an object, or the text of large ones. */
export interface ResolvedArguments extends ResolvedCall {
  /** Then `arguments` is empty. */
  large?: LargeArguments | undefined;
}

/** The result of a job. */
export type LargeResult =
  | ReceivedAnswer
  | ResolvedArguments
  | Answer
  | WrittenArguments
  | LookupArguments
  | Found;

/** Arguments as their JSON text in UTF-8. */
export type WrittenArguments = Pick<LargeArguments, "bytes">;

/** The arguments of a look-up: an object, or the text of large ones. */
export type LookupArguments = { arguments: JsonObject } | WrittenArguments;

/** Does a job. */
export function performJob(job: LargeJob): LargeResult {
  switch (job.type) {
    case "read":
      return readLargeAnswer(job.answer);
    case "resolve":
      return resolveArguments(job);
    case "fill": {
      const { large, values } = job;
      const filled = withSecrets(valueOf(large), large.secrets, values);
      return { bytes: new TextEncoder().encode(stringifyExactJson(filled)) };
    }
    case "lookup": {
      const { large, template, idempotencyKey } = job;
      const args = lookupArguments(template, { arguments: valueOf(large), idempotencyKey });
      const text = stringifyExactJson(args);
      const bytes = new TextEncoder().encode(text);
      return bytes.length > LARGE_JSON_BYTES ? { bytes } : { arguments: args };
    }
    case "found":
      return readFound(textOfContent(job.content), job.outputSchema);
    case "answer":
      return answerQuestion(fromSent<Question>(job.question));
  }
}

/**
 * The arguments of a look-up.
 * @param of - the arguments of the call (`<<arguments.reference>>`) and its key (`<<idempotencyKey>>`)
 * @throws {CodedError} when they cannot be resolved
 */
export function lookupArguments(
  template: JsonObject,
  of: { arguments: JsonObject; idempotencyKey: string },
): JsonObject {
  const { value } = resolveReferences(template, { outputs: new Map(Object.entries(of)) });
  return isJsonObject(value) ? value : {};
}

function valueOf({ bytes }: LargeArguments): JsonObject {
  const value = parseExactJson(new TextDecoder().decode(bytes));
  return isJsonObject(value) ? value : {};
}

function resolveArguments({
  unresolved,
  isApproved,
  secrets,
}: Extract<LargeJob, { type: "resolve" }>): ResolvedArguments {
  const resolved = resolveUnresolved(fromSent<UnresolvedArguments>(unresolved));
  if (!resolved.arguments) return resolved;
  // The hash of arguments is over this form, in which exact numbers are marked.
  const written = JSON.stringify(resolved.arguments);
  if (Buffer.byteLength(written) <= LARGE_JSON_BYTES) return resolved;
  const text = unmarkNumbers(written);
  const large = {
    bytes: new TextEncoder().encode(text),
    argsHash: sha256(written),
    digest: isApproved ? canonicalDigest(resolved.arguments) : undefined,
    beginning: text.slice(0, BEGINNING_CHARS),
    secrets: presentIn(resolved.arguments, secrets),
  };
  return { ...resolved, arguments: {}, large };
}
