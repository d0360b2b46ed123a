import { isJsonObject, JsonValueSchema, parseExactJson } from "@planwright/plan";
import { z } from "zod";
import { ApiRefusedError, NotTheApiError } from "../errors.ts";

const AnswerSchema = z.object({
  data: z.record(z.string(), z.unknown()).nullish(),
  errors: z
    .array(
      z.object({
        message: z.string(),
        path: z.array(z.union([z.string(), z.number()])).optional(),
        extensions: z.record(z.string(), JsonValueSchema).optional(),
      }),
    )
    .optional(),
});
type AnswerError = NonNullable<z.infer<typeof AnswerSchema>["errors"]>[number];

/**
 * The `data` of a GraphQL answer. The API answers according to its schema, so the type is trusted.
 * @throws {ApiRefusedError} with the first error of the answer, {NotTheApiError} when the text is not a
 * GraphQL answer
 */
export function readAnswer<Result>(text: string, from: { url: string; status: number }): Result {
  const { data, errors } = parseAnswer(text, from);
  const [first] = errors ?? [];
  if (first) throw refusal(first);
  if (!data) throw new NotTheApiError(from.url, from.status);
  return data as Result;
}

function parseAnswer(text: string, { url, status }: { url: string; status: number }) {
  try {
    return AnswerSchema.parse(parseExactJson(text));
  } catch (error) {
    throw new NotTheApiError(url, status, error);
  }
}

function refusal({ message, path = [], extensions = {} }: AnswerError): ApiRefusedError {
  const { code, retryable, remedy, ...facts } = extensions;
  return new ApiRefusedError(message, {
    code: typeof code === "string" ? code : "UNKNOWN",
    retryable: retryable === true,
    remedy: typeof remedy === "string" ? remedy : null,
    path,
    facts: isJsonObject(facts) ? facts : {},
  });
}
