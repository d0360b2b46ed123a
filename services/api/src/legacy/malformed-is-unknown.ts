import { shortened } from "../arguments/text.ts";
import { BadInputError, RequestNotFoundError } from "../errors/api-error.ts";

/**
 * Runs an operation of older clients. For them a malformed id is an unknown id, because they compare the text
 * of that error.
 * @throws {RequestNotFoundError} for a malformed id, and every error of the operation
 */
export async function malformedIsUnknown<T>(id: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const isMalformed = error instanceof BadInputError && /^(request|plan)Id$/.test(error.facts.argument);
    if (!isMalformed) throw error;
    throw new RequestNotFoundError(shortened(id));
  }
}
