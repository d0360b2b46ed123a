import { isJsonObject, type JsonObject, withoutNulls } from "@planwright/plan";
import type { z } from "zod";
import { BadInputError } from "../errors/input-errors.ts";

/** Longest message, in UTF-16 units: it quotes names of unknown arguments. */
const MAX_MESSAGE = 300;

/**
 * The parsed arguments of a tool call; null for an optional one means that it is absent.
 * @param inputSchema - the JSON Schema of `schema`
 * @throws {BadInputError} for the first wrong one
 */
export function parseArguments<Schema extends z.ZodType>(
  tool: string,
  { schema, inputSchema }: { schema: Schema; inputSchema: JsonObject },
  given: unknown,
): z.output<Schema> {
  const present = isJsonObject(given) ? withoutNulls(given, inputSchema) : (given ?? {});
  const parsed = schema.safeParse(present, {
    error: ({ code, input }) =>
      code === "invalid_type" && (input === undefined || input === null) ? "is missing" : undefined,
  });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const argument = issue?.path.join(".").slice(0, MAX_MESSAGE) || "arguments";
  const message = `${argument}: ${issue?.message ?? "cannot be read"}`.slice(0, MAX_MESSAGE);
  throw new BadInputError(
    argument,
    message,
    `Call ${tool} again with arguments that fit its inputSchema, which tools/list returns.`,
  );
}
