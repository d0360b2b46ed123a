import { isJsonObject, type JsonValue, JsonValueSchema } from "@planwright/plan";
import { z } from "zod";
import { ApiRefusedError, NotTheApiError } from "../errors.ts";

const AnswerSchema = z.object({
  data: z.unknown().optional(),
  errors: z
    .array(
      z.object({
        message: z.string(),
        extensions: z.record(z.string(), JsonValueSchema).optional(),
      }),
    )
    .optional(),
});

/**
 * What an answer of the API holds for an operation.
 * @throws {ApiRefusedError} with the first error of the answer, {NotTheApiError} when it is none
 */
export function readAnswer<T>(text: string, schema: z.ZodType<T>, from: { url: string; status: number }): T {
  const { data, errors } = parseAnswer(text) ?? { errors: undefined, data: undefined };
  const [first] = errors ?? [];
  if (first) throw refusal(first.message, first.extensions ?? {});
  const parsed = schema.safeParse(data);
  if (!parsed.success) throw new NotTheApiError(from.url, from.status, parsed.error);
  return parsed.data;
}

function parseAnswer(text: string): z.infer<typeof AnswerSchema> | undefined {
  try {
    return AnswerSchema.parse(JSON.parse(text));
  } catch {
    return undefined; // told as what it is by the caller: nothing that the API says
  }
}

function refusal(message: string, extensions: Record<string, JsonValue>): ApiRefusedError {
  const { code, retryable, remedy, ...facts } = extensions;
  return new ApiRefusedError(message, {
    code: typeof code === "string" ? code : "UNKNOWN",
    retryable: retryable === true,
    remedy: typeof remedy === "string" ? remedy : null,
    facts: isJsonObject(facts) ? facts : {},
  });
}
