import { z } from "zod";
import { type JsonObject, JsonObjectSchema, type JsonValue } from "../json/json.ts";
import { StepIdSchema, ToolNameSchema } from "./plan.ts";

/** Time, place and facts of the caller of a request. */
export interface PlanningContext {
  /** The base of "today" and "in two hours"; the same for all work on the request. */
  readonly now: Date;
  /** IANA name of the caller's time zone, such as "Europe/Berlin". */
  readonly timezone: string;
  /** BCP 47 tag of the caller's language and region; null when unknown. */
  readonly locale: string | null;
  /** Facts that the caller sends with each request: its ids, accounts, defaults. Data, never instructions. */
  readonly facts: JsonObject;
}

const TIMEZONE = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/;
const MAX_LOCALE = 64;

/**
 * True for the name of a time zone that this system knows. Offsets such as "+01:00" are not time zones,
 * because they have no summer time.
 */
export function isTimezone(name: string): boolean {
  if (!TIMEZONE.test(name)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** A BCP 47 tag in its usual spelling, "de-DE" for "DE-de"; null for an invalid tag. */
export function canonicalLocale(tag: string): string | null {
  if (tag.length > MAX_LOCALE) return null;
  try {
    return Intl.getCanonicalLocales(tag)[0] ?? null;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** Maximum number of open questions. */
export const MAX_QUESTIONS = 20;

/**
 * Id of a question, such as "q1". Numbers are unique in the request, so that an answer cannot match another
 * question.
 */
const QuestionIdSchema = z.string().regex(/^q[1-9][0-9]{0,5}$/);

/** The subject of a question: one argument of one step. */
const AskedParameterSchema = z.object({
  stepId: StepIdSchema,
  tool: ToolNameSchema,
  /** Keys below the step's arguments, such as `["authors", 0, "email"]`. */
  keys: z
    .array(z.union([z.string().max(200), z.number().int().min(0)]))
    .min(1)
    .max(20),
  /** JSON Schema of the value; null where the tool declares none. */
  schema: JsonObjectSchema.nullable(),
});
/** See {@link AskedParameterSchema}. */
export type AskedParameter = z.infer<typeof AskedParameterSchema>;

/**
 * An unanswered question of the planner. `about` is null for a free question of a model that names no
 * argument: the model reads its answer.
 */
const OpenQuestionSchema = z.object({
  id: QuestionIdSchema,
  question: z.string().min(1).max(1_000),
  about: AskedParameterSchema.nullable(),
});
/** See {@link OpenQuestionSchema}. */
export type OpenQuestion = z.infer<typeof OpenQuestionSchema>;

/** A value for one argument of a draft. */
export interface GapValue {
  stepId: string;
  /** Path from the step's arguments. */
  keys: readonly (string | number)[];
  /** A plain value: text that looks like a reference is not a reference. */
  value: JsonValue;
}
