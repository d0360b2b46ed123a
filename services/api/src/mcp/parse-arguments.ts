import type { z } from "zod";
import { BadInputError } from "../errors/input-errors.ts";

/** Longest message, in UTF-16 units: it quotes names of unknown arguments. */
const MAX_MESSAGE = 300;

/** The parsed arguments of a tool call. @throws {BadInputError} for the first wrong one */
export function parseArguments<Schema extends z.ZodType>(
  tool: string,
  schema: Schema,
  given: unknown,
): z.output<Schema> {
  const parsed = schema.safeParse(given ?? {}, {
    error: ({ code, input }) => (code === "invalid_type" && input === undefined ? "is missing" : undefined),
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
