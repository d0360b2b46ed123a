import { z } from "zod";

/** `req_{unix seconds}_{random}`; the random part has at least 16 characters of [a-z0-9]. */
export const RequestIdSchema = z.string().regex(/^req_[0-9]{10}_[a-z0-9]{16,32}$/);
/** Id of a request. */
export type RequestId = z.infer<typeof RequestIdSchema>;

/** `plan_{unix seconds}_{random}`; the random part has at least 16 characters of [a-z0-9]. */
export const PlanIdSchema = z.string().regex(/^plan_[0-9]{10}_[a-z0-9]{16,32}$/);
/** Id of an immutable plan, which is executed at most once. */
export type PlanId = z.infer<typeof PlanIdSchema>;

/** Name of a step inside its plan, such as "createAuthor"; unique in the plan, not beyond it. */
export const StepIdSchema = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/);
/** Name of a step inside its plan. */
export type StepId = z.infer<typeof StepIdSchema>;

/** A visible character: not a control, line break, blank, or character without width or meaning. */
const VISIBLE = String.raw`[^\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]`;
/**
 * Plain spaces are allowed only between the first and the last character, so that names that look alike are
 * equal.
 */
const OWN_NAME = `${VISIBLE}(?:(?:${VISIBLE}| ){0,126}${VISIBLE})?`;

/**
 * The name by which a server lists a tool: 1 to 128 printable characters of any script, with plain spaces
 * inside and none at the ends. MCP (SEP-986) asks for letters, digits and `_-./`; servers give others too. No
 * word of it mixes Latin, Cyrillic and Greek letters: such a name could imitate another one.
 * @see Unicode Technical Standard 39, section 5.1 ("mixed-script detection")
 */
export const OwnToolNameSchema = z
  .string()
  .regex(new RegExp(`^${OWN_NAME}$`, "u"))
  .refine(isOfPlainScripts, "a word of it mixes letters that look alike");

/**
 * Name of a tool in plans: the server's name for it, or `server/tool` when two servers offer the same name or
 * the name contains a slash.
 */
export const ToolNameSchema = z
  .string()
  .regex(new RegExp(`^(?:[A-Za-z0-9._-]{1,128}/)?${OWN_NAME}$`, "u"))
  .refine(isOfPlainScripts, "a word of it mixes letters that look alike");
/** Name of a tool as plans use it. */
export type ToolName = z.infer<typeof ToolNameSchema>;

const LOOKALIKES = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u];

/** False when a word mixes letters of scripts that look alike. */
function isOfPlainScripts(name: string): boolean {
  const words = name.match(/[\p{L}\p{M}]+/gu) ?? [];
  return words.every((word) => LOOKALIKES.filter((script) => script.test(word)).length <= 1);
}

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

/** Uniform over the alphabet: bytes at or above the largest multiple of its size are drawn again. */
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
