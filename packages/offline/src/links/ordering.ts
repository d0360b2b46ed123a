import { isReadingVerb, type ToolWords } from "@planwright/models/words";
import type { JsonObject } from "@planwright/plan";
import type { PlannedStep } from "./links.ts";

/** A step that is being planned: the parts that decide its order. */
export interface NewStep {
  words: ToolWords;
  arguments: JsonObject;
  /** True when "then" or a new sentence comes before its clause. */
  isSequel: boolean;
  stage: number;
}

/**
 * Steps that a new step has to wait for although no reference says so. After "then" these are all steps of
 * the previous stage, unless the new step refers to one of them. It also waits for other steps that change
 * the thing that it uses ("add a line to that order, pay for it").
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
 * Earlier steps that change the things that a step uses. A step that makes a new thing need not wait for
 * them.
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

/** True when the first step comes after the second one by references or dependencies. */
function follows(id: string, other: string, steps: readonly PlannedStep[]): boolean {
  const step = steps.find((each) => each.id === id);
  if (!step) return false;
  const parents = steps.filter(
    (each) => step.dependsOn.includes(each.id) || refersTo(step.arguments, each.id),
  );
  return parents.some((each) => each.id === other || follows(each.id, other, steps));
}
