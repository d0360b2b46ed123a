import { z } from "zod";
import { StepIdSchema, ToolNameSchema } from "../document/ids.ts";
import { JsonObjectSchema } from "../json/json.ts";

/** Most questions that are open at once. */
export const MAX_QUESTIONS = 20;

/**
 * Id of a question, such as "q1": counted over the whole life of its request, so that an answer never meets
 * another question.
 */
export const QuestionIdSchema = z.string().regex(/^q[1-9][0-9]{0,5}$/);

/** What is asked about: one argument of one step. */
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
 * A question that the planner asks and that has no answer yet. `about` is null for a question in a model's
 * own words that names no argument: its answer is read by the model.
 */
export const OpenQuestionSchema = z.object({
  id: QuestionIdSchema,
  question: z.string().min(1).max(1_000),
  about: AskedParameterSchema.nullable(),
});
/** See {@link OpenQuestionSchema}. */
export type OpenQuestion = z.infer<typeof OpenQuestionSchema>;
