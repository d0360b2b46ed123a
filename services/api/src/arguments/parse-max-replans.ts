import { BadInputError } from "../errors/input-errors.ts";

/** Most automatic replans of one request. */
const MAX_REPLANS = 5;

/** @throws {BadInputError} for a number outside 0 to 5 */
export function parseMaxReplans(count: number): number {
  if (Number.isInteger(count) && count >= 0 && count <= MAX_REPLANS) return count;
  throw new BadInputError(
    "maxReplans",
    `maxReplans is ${count}; 0 to ${MAX_REPLANS} are accepted`,
    "Give fewer; the mutation replan makes further ones.",
  );
}
