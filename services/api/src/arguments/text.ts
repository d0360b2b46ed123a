import { canonicalDigest, PlanIdSchema, RequestIdSchema, StepIdSchema } from "@planwright/plan";
import type { Idempotency, VersionOptions } from "@planwright/store";
import { z } from "zod";
import { BadInputError, PlanNotFoundError, RequestNotFoundError } from "../errors/api-error.ts";

/** Longest key accepted, in UTF-16 units. */
const MAX_KEY_LENGTH = 256;

/**
 * An idempotency key with a hash of the operation and all of its arguments. The order of object keys does not
 * matter. Undefined without a key.
 * @throws {BadInputError} for a key that is blank, too long or not text
 */
export function toIdempotency(key: string | null | undefined, payload: unknown): Idempotency | undefined {
  if (key === undefined || key === null) return undefined;
  if (isBlank(key) || key.length > MAX_KEY_LENGTH || !isWellFormed(key)) {
    throw new BadInputError(
      "idempotencyKey",
      `The idempotencyKey has ${key.length} characters, is blank, or is not well-formed text`,
      `Give 1 to ${MAX_KEY_LENGTH} characters, such as a new UUID for each submission.`,
    );
  }
  return { key, payloadHash: canonicalDigest(payload) };
}

/** Arguments that prevent a second version for the same intention. */
export interface VersionInput {
  /** The version that the client has read. */
  fromVersion?: number | null;
  idempotencyKey?: string | null;
}

/** Most steps that one call may accept. */
const MAX_ACCEPTED = 100;

/**
 * @param payload - the operation and its other arguments, which must be the same for the same key
 * @throws {BadInputError}
 */
export function parseVersion(input: VersionInput, payload: readonly unknown[]): VersionOptions {
  const fromVersion = input.fromVersion ?? undefined;
  if (fromVersion !== undefined && fromVersion < 1) {
    throw new BadInputError(
      "fromVersion",
      `fromVersion is ${fromVersion}, and versions count from 1`,
      "Give the version of the request as it was read, or leave fromVersion out.",
    );
  }
  const idempotency = toIdempotency(input.idempotencyKey, [...payload, fromVersion ?? null]);
  return { fromVersion, idempotency };
}

/** The argument of mutations that may call steps again. */
export interface RepeatInput {
  /** Ids of steps that may be called again although a failed call of them acted or may have acted. */
  acceptRepeat?: readonly string[] | null;
}

/** @throws {BadInputError} */
export function parseAcceptRepeat({ acceptRepeat }: RepeatInput): string[] {
  const given = acceptRepeat ?? [];
  if (given.length <= MAX_ACCEPTED) return given.map(parseStepId);
  throw new BadInputError(
    "acceptRepeat",
    `acceptRepeat names ${given.length} steps, and at most ${MAX_ACCEPTED} are possible`,
    "Name the steps that the refusal lists.",
  );
}

/**
 * True for text without a visible character: only blanks, control characters, and zero-width characters such
 * as U+200B or the Hangul fillers. Half of a surrogate pair counts as visible.
 */
export function isBlank(text: string): boolean {
  return /^[\p{White_Space}\p{Cc}\p{Cf}\u115f\u1160\u3164\uffa0]*$/u.test(text);
}

/** True for a text that can be stored unchanged: no half of a surrogate pair, and no NUL character. */
export function isWellFormed(text: string): boolean {
  return !/[\p{Surrogate}\0]/u.test(text);
}

/** Longest value that a message shows, in UTF-16 units. */
const MAX_SHOWN = 60;

/** A text of a client, short enough for a message. */
export function shortened(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

/** The same in quotation marks. */
export function quoted(text: string): string {
  return JSON.stringify(shortened(text));
}

/** Longest text of an operator, in UTF-16 units. */
const MAX_TEXT_LENGTH = 1_000;

/**
 * A trimmed text for people; null when it is blank.
 * @throws {BadInputError} if it is too long or not well-formed
 */
export function parseText(argument: string, text: string | null | undefined): string | null {
  const trimmed = text?.trim() ?? "";
  if (isBlank(trimmed)) return null;
  if (trimmed.length > MAX_TEXT_LENGTH || !isWellFormed(trimmed)) {
    throw new BadInputError(
      argument,
      `The ${argument} has ${trimmed.length} characters, or is not well-formed text`,
      `Give at most ${MAX_TEXT_LENGTH} characters as UTF-8, without NUL characters.`,
    );
  }
  return trimmed;
}

/** Longest sentence accepted, in UTF-16 units. */
const MAX_QUERY_LENGTH = 10_000;

/** The trimmed sentence. @throws {BadInputError} if it is empty, too long or not well-formed */
export function parseQuery(text: string): string {
  const query = text.trim();
  if (isBlank(query)) throw refused("The query is empty", "Describe in a sentence what to do.");
  if (text.length > MAX_QUERY_LENGTH) {
    throw refused(
      `The query has ${text.length} characters; ${MAX_QUERY_LENGTH} are accepted`,
      "Shorten it, or submit a plan with submitPlan.",
    );
  }
  if (!isWellFormed(query)) {
    throw refused("The query is not well-formed text", "Send it as UTF-8 without NUL characters.");
  }
  return query;
}

function refused(message: string, remedy: string): BadInputError {
  return new BadInputError("query", message, remedy);
}

/** Most tags of one request. */
const MAX_TAGS = 10;
const TAG = /^[A-Za-z0-9._:/-]{1,64}$/;
const REMEDY = "A tag is 1 to 64 of A-Z a-z 0-9 . _ : / -, such as team:billing.";

/**
 * Tags without duplicates, in the given order.
 * @throws {BadInputError} for more than 10, and for an invalid tag
 */
export function parseTags(tags: readonly string[] | null | undefined): string[] {
  const given = tags ?? [];
  if (given.length > MAX_TAGS) {
    throw new BadInputError("tags", `${given.length} tags are too many`, `Give ${MAX_TAGS} at most.`);
  }
  return [...new Set(given.map((tag) => parseTag("tags", tag)))];
}

/** @throws {BadInputError} for an invalid tag */
export function parseTag(argument: string, tag: string): string {
  if (TAG.test(tag)) return tag;
  throw new BadInputError(argument, `Not a tag: ${quoted(tag)}`, REMEDY);
}

const StepKeySchema = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}(\[\d{1,6}\])?$/);

/**
 * Ids of an older system: nine random characters, alone or after a prefix and a time. No request or plan here
 * has such an id, so it is not known rather than malformed.
 */
const OLD_ID = /^(?:(?:req|plan)_[0-9]{10,13}_)?[A-Za-z0-9]{9}$/;

/**
 * @throws {RequestNotFoundError} for the id of an older system
 * @throws {BadInputError} if the text does not look like a request id
 */
export const parseRequestId = parserOf(RequestIdSchema, {
  argument: "requestId",
  what: "a request id",
  unknown: (id) => new RequestNotFoundError(id),
  remedy: "A request id looks like req_1700000000_abcdefghijklmnopqrst.",
});

/**
 * @throws {PlanNotFoundError} for the id of an older system
 * @throws {BadInputError} if the text does not look like a plan id
 */
export const parsePlanId = parserOf(PlanIdSchema, {
  argument: "planId",
  what: "a plan id",
  unknown: (id) => new PlanNotFoundError(id),
  remedy: "A plan id looks like plan_1700000000_abcdefghijklmnopqrst.",
});

/** @throws {BadInputError} if the text cannot be the id of a step */
export const parseStepId = parserOf(StepIdSchema, {
  argument: "stepId",
  what: "a step id",
  remedy: "request(requestId) { plan { steps { id } } } lists the ids of the steps.",
});

/** @throws {BadInputError} if the text cannot be the key of a step or of an item, such as "each[3]" */
export const parseStepKey = parserOf(StepKeySchema, {
  argument: "stepKey",
  what: "the key of a step",
  remedy: "request(requestId) { plan { steps { key } } } lists the keys of steps and items.",
});

function parserOf<Id>(
  schema: z.ZodType<Id>,
  {
    argument,
    what,
    remedy,
    unknown,
  }: { argument: string; what: string; remedy: string; unknown?: (id: string) => Error },
): (text: string) => Id {
  return (text) => {
    const parsed = schema.safeParse(text);
    if (parsed.success) return parsed.data;
    if (unknown && OLD_ID.test(text)) throw unknown(text);
    throw new BadInputError(argument, `Not ${what}: ${quoted(text)}`, remedy);
  };
}
