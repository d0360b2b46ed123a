import type { JsonObject } from "../json/json.ts";
import type { PathSegment } from "../json/path.ts";
import type { CallStep, Condition, ForEach } from "./step.ts";

/** The validated fields of a step that mean the same in every dialect. */
export type StepOptions = Pick<CallStep, "retry" | "timeoutMs" | "onError" | "approval">;

/** A reference in a step, with a known root. */
export interface DraftReference {
  readonly text: string;
  /** Keys below the step. */
  readonly keys: readonly (string | number)[];
  /** True when the text is only this reference. */
  readonly isWhole: boolean;
  /** A step id, or a name inside the forEach. */
  readonly source: { readonly type: "step" | "scope"; readonly name: string };
  readonly path: readonly PathSegment[];
}

/**
 * A step while its document is read, between a dialect and the canonical form. Its fields change during
 * reading.
 */
export interface DraftStep {
  /** Position in the plan. */
  index: number;
  /** Position in the document, from 0; negative for an inserted step. */
  position: number;
  id: string;
  /** False when the id was derived from the tool's name. */
  hasOwnId: boolean;
  /** The written id, when it is not valid in a plan: `1`, `step 1`, `functions.find:0`. */
  writtenId: string | undefined;
  /**
   * Further names of the step or its output, such as `$var1`. References may use them; the plan does not
   * contain them.
   */
  labels: readonly string[];
  tool: string;
  /** Arguments of the call; for a forEach those of `do`. */
  arguments: JsonObject;
  forEach: ForEach | undefined;
  when: Condition | undefined;
  /** As written: ids of steps or names of tools; ids once they are resolved. */
  dependsOn: string[];
  /** Names of fields in its output, as the call declares them. */
  provides: string[];
  options: StepOptions;
  references: DraftReference[];
  /** References with an unknown root. They already have diagnostics; their values are unknown. */
  refused: Pick<DraftReference, "keys" | "isWhole">[];
}

/** A step with these fields and defaults for all others. */
export function createDraftStep(known: {
  index: number;
  id: string;
  tool?: string;
  position?: number;
}): DraftStep {
  return {
    hasOwnId: false,
    position: known.index,
    writtenId: undefined,
    labels: [],
    tool: "",
    arguments: {},
    forEach: undefined,
    when: undefined,
    dependsOn: [],
    provides: [],
    options: {},
    references: [],
    refused: [],
    ...known,
  };
}

/** Maximum number of explicit dependencies of one step. */
export const MAX_DEPENDENCIES = 1_000;

/** Path from a step to the arguments of its call. */
export function argumentKeys(step: DraftStep): readonly string[] {
  return step.forEach ? ["forEach", "do", "arguments"] : ["arguments"];
}

/** Path from a step to the tool of its call. */
export function toolKeys(step: DraftStep): readonly string[] {
  return step.forEach ? ["forEach", "do", "tool"] : ["tool"];
}
