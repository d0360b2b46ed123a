import { isReadingVerb, type ToolWords } from "@planwright/models/words";
import type { JsonObject } from "@planwright/plan";
import type { PlannedStep } from "./links.ts";

/** A step that is being planned, as far as its place among the others goes. */
export interface NewStep {
  words: ToolWords;
  arguments: JsonObject;
  /** True when "then", or a new sentence, stands before its clause. */
  isSequel: boolean;
  stage: number;
}

/**
 * Steps that a new one has to wait for though no reference says so: with "then" all of the stage before,
 * unless it refers to one of them; and whatever else does something to the thing that it is about ("add a
 * line to that order, pay for it").
 */
export function waitsFor(step: NewStep, earlier: readonly PlannedStep[]): string[] {
  const before = step.isSequel ? earlier.filter(({ stage }) => stage === step.stage - 1) : [];
  const used = earlier.filter(({ id }) => refersTo(step.arguments, id));
  const sequence = before.some((each) => used.includes(each)) ? [] : before;
  const waited = [...sequence, ...othersAt(step, used, earlier)];
  const ids = [...new Set(waited.map(({ id }) => id))];
  return ids.filter((id) => !ids.some((other) => other !== id && follows(other, id, earlier)));
}

/**
 * Earlier steps that act on the things that a step is about. What makes something new beside them may run at
 * the same time.
 */
function othersAt(
  step: NewStep,
  used: readonly PlannedStep[],
  earlier: readonly PlannedStep[],
): PlannedStep[] {
  if (step.words.isMaking) return [];
  return earlier.filter(
    (each) =>
      !used.includes(each) &&
      !isReadingVerb(each.words.verbs[0] ?? "") &&
      used.some(({ id }) => refersTo(each.arguments, id)),
  );
}

const refersTo = (given: JsonObject, id: string) => new RegExp(`<<${id}[.\\[>]`).test(JSON.stringify(given));

/** True when one step comes after another anyway. */
function follows(id: string, other: string, steps: readonly PlannedStep[]): boolean {
  const step = steps.find((each) => each.id === id);
  if (!step) return false;
  const parents = steps.filter(
    (each) => step.dependsOn.includes(each.id) || refersTo(step.arguments, each.id),
  );
  return parents.some((each) => each.id === other || follows(each.id, other, steps));
}
