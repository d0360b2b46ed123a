import { z } from "zod";
import { JsonObjectSchema, type JsonValue } from "../json/json.ts";
import { StepIdSchema, ToolNameSchema } from "./ids.ts";

/** Maximum number of open questions. */
export const MAX_QUESTIONS = 20;

/**
 * Id of a question, such as "q1". Numbers are unique in the request, so that an answer cannot match another
 * question.
 */
export const QuestionIdSchema = z.string().regex(/^q[1-9][0-9]{0,5}$/);

/** The subject of a question: one argument of one step. */
export const AskedParameterSchema = z.object({
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
export const OpenQuestionSchema = z.object({
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
