import type { DraftStep } from "../document/draft-step.ts";
import { shortName } from "../tools/name-tools.ts";

const MAX_LENGTH = 64;

/** The nearest valid step id. */
export function toStepId(text: string): string {
  const plain = text
    .slice(0, MAX_LENGTH * 4)
    .replace(/[^A-Za-z0-9_-]+/g, "_")
    .replace(/^_+|_+$/g, "");
  const prefixed = /^[A-Za-z]/.test(plain) ? plain : `s${plain}`;
  const id = prefixed.slice(0, MAX_LENGTH);
  return id === "constructor" || id === "prototype" ? `${id}_` : id;
}

/**
 * Names steps without an id after their tool: `createAuthor`. When several of them use one tool, all are
 * numbered (`createAuthor_1`, `createAuthor_2`), so that the tool's name is not the id of one of them.
 */
export function nameSteps(steps: readonly Pick<DraftStep, "id" | "tool" | "hasOwnId">[]): void {
  const taken = new Set(steps.filter((step) => step.hasOwnId).map(({ id }) => id));
  const uses = new Map<string, number>();
  for (const { tool } of steps) uses.set(tool, (uses.get(tool) ?? 0) + 1);
  const numbers = new Map<string, number>();
  for (const step of steps) {
    if (step.hasOwnId) continue;
    const base = toStepId(shortName(step.tool) || "step").slice(0, MAX_LENGTH - 8);
    const isAlone = uses.get(step.tool) === 1 && !taken.has(base);
    step.id = isAlone ? base : nextFree(base, taken, numbers);
    taken.add(step.id);
  }
}

/** The first free numbered name; `numbers` has the last number of each base. */
export function nextFree(base: string, taken: ReadonlySet<string>, numbers: Map<string, number>): string {
  let number = (numbers.get(base) ?? 0) + 1;
  while (taken.has(`${base}_${number}`)) number++;
  numbers.set(base, number);
  return `${base}_${number}`;
}
