import { z } from "zod";

/** `req_{unix seconds}_{random}`; the random part has at least 16 characters of [a-z0-9]. */
export const RequestIdSchema = z.string().regex(/^req_[0-9]{10}_[a-z0-9]{16,32}$/);
/** Names one request and everything done for it. */
export type RequestId = z.infer<typeof RequestIdSchema>;

/** `plan_{unix seconds}_{random}`; the random part has at least 16 characters of [a-z0-9]. */
export const PlanIdSchema = z.string().regex(/^plan_[0-9]{10}_[a-z0-9]{16,32}$/);
/** Names one immutable plan, executed at most once. */
export type PlanId = z.infer<typeof PlanIdSchema>;

/** Name of a step inside its plan, such as "createAuthor"; unique in the plan, not beyond it. */
export const StepIdSchema = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/);
/** Name of a step inside its plan. */
export type StepId = z.infer<typeof StepIdSchema>;

/** A tool name (MCP SEP-986), or `server/tool` where two servers offer the same name. */
export const ToolNameSchema = z.string().regex(/^[A-Za-z0-9._-]{1,128}(\/[A-Za-z0-9._-]{1,128})?$/);
/** Name of a tool as plans use it. */
export type ToolName = z.infer<typeof ToolNameSchema>;

const ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789";
const RANDOM_LENGTH = 20;

/** Fills an array with random bytes; pass `crypto.getRandomValues`, or a seeded one in tests. */
export type RandomBytes = (bytes: Uint8Array<ArrayBuffer>) => unknown;

/** A new request id. @param nowMs - Unix time in milliseconds */
export function createRequestId(nowMs: number, randomBytes: RandomBytes): RequestId {
  return `req_${Math.floor(nowMs / 1000)}_${randomPart(randomBytes)}`;
}

/** A new plan id. @param nowMs - Unix time in milliseconds */
export function createPlanId(nowMs: number, randomBytes: RandomBytes): PlanId {
  return `plan_${Math.floor(nowMs / 1000)}_${randomPart(randomBytes)}`;
}

/** Uniform over the alphabet: bytes above the largest multiple of its size are drawn again. */
function randomPart(randomBytes: RandomBytes): string {
  const ceiling = 256 - (256 % ALPHABET.length);
  let text = "";
  while (text.length < RANDOM_LENGTH) {
    const bytes = new Uint8Array(RANDOM_LENGTH);
    randomBytes(bytes);
    for (const byte of bytes) {
      if (byte < ceiling && text.length < RANDOM_LENGTH) text += ALPHABET[byte % ALPHABET.length];
    }
  }
  return text;
}
