import { findUnfit, hasPlaceholder, PLACEHOLDER, unfitText } from "@planwright/plan";
import { BadInputError } from "../errors/input-errors.ts";

/** MongoDB allows 100 levels; the plan language allows fewer and reports where. */
export const MAX_DEPTH = 90;

/**
 * Checks depth and keys of a JSON value from a client, before other code reads it. Without
 * recursion, so that deep nesting cannot exhaust the stack.
 * @param argument - name of the argument, such as "plan"
 * @throws {BadInputError}
 */
export function checkJsonShape(argument: string, value: unknown): void {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) {
      throw new BadInputError(
        argument,
        `The ${argument} is nested more than ${MAX_DEPTH} levels deep`,
        "Make it flatter.",
      );
    }
    level = level.flatMap((one) => childrenOf(argument, one));
  }
}

/**
 * Refuses what would be lost or changed on its way to a tool, by its path (`UnfitPart`).
 * In a plan, its validation reports these.
 * @param argument - name of the argument, such as "arguments"
 * @throws {BadInputError}
 */
export function requireFit(argument: string, value: unknown): void {
  const unfit = findUnfit(value);
  if (unfit) throw new BadInputError(argument, unfitText(unfit), "Correct it, and send the rest as it is.");
}

function childrenOf(argument: string, value: unknown): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  if (Object.keys(value).some((key) => key.includes("\0"))) {
    throw new BadInputError(
      argument,
      `A key of the ${argument} contains a NUL character`,
      "Remove it from the key.",
    );
  }
  return Object.values(value).filter((child) => typeof child === "object" && child !== null);
}

/**
 * Refuses a value in which a placeholder was left: it was copied from an action of a diagnosis and not filled
 * in. Call {@link checkJsonShape} first.
 * @throws {BadInputError}
 */
export function checkFilledIn(argument: string, value: unknown): void {
  if (!hasPlaceholder(value)) return;
  throw new BadInputError(
    argument,
    `In ${argument} a placeholder is left: ${PLACEHOLDER} stands for a value`,
    `Write the value in place of ${PLACEHOLDER}.`,
  );
}
