import { BadInputError } from "../errors.ts";

/** A submitted plan as a value, and as the text that is kept. */
export interface PlanInput {
  value: unknown;
  raw: string;
}

const MAX_BYTES = 1_048_576;
/** MongoDB nests 100 levels; the plan language allows fewer and names the place. */
const MAX_DEPTH = 90;

/**
 * Checks what must hold before anything reads the plan: size, depth, and keys that MongoDB can store.
 * A text is read as JSON where it is JSON.
 * @throws {BadInputError}
 */
export function readPlanInput(plan: unknown): PlanInput {
  if (typeof plan === "string") {
    if (Buffer.byteLength(plan) > MAX_BYTES) throw tooLarge();
    const value = parsedText(plan);
    checkShape(value);
    return { value, raw: plan };
  }
  checkShape(plan);
  const raw = JSON.stringify(plan) ?? "null";
  if (Buffer.byteLength(raw) > MAX_BYTES) throw tooLarge();
  return { value: JSON.parse(raw), raw };
}

function parsedText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text; // Not JSON: the plan language says what is wrong with it.
  }
}

/** Walks without recursion, so that no depth can exhaust the stack. */
function checkShape(plan: unknown): void {
  let level: unknown[] = [plan];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) {
      throw refused(`The plan is nested more than ${MAX_DEPTH} levels deep`, "Make it flatter.");
    }
    level = level.flatMap(childrenOf);
  }
}

function childrenOf(value: unknown): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  if (Object.keys(value).some((key) => key.includes("\0"))) {
    throw refused("A key of the plan holds a NUL character", "Remove it from the key.");
  }
  return Object.values(value).filter((child) => typeof child === "object" && child !== null);
}

function tooLarge(): BadInputError {
  return refused(`The plan is larger than ${MAX_BYTES} bytes`, "Split it, or move long values into a tool.");
}

function refused(message: string, remedy: string): BadInputError {
  return new BadInputError("plan", message, remedy);
}
