import type { JsonObject } from "../json/json.ts";
import type { PathSegment } from "../json/path.ts";
import type { CallStep, Condition, ForEach } from "./step.ts";

/** The fields of a step that mean the same in every dialect, checked. */
export type StepOptions = Pick<CallStep, "retry" | "timeoutMs" | "onError" | "approval">;

/** A reference of a step whose root is known. */
export interface DraftReference {
  readonly text: string;
  /** Keys below the step. */
  readonly keys: readonly (string | number)[];
  /** True when the text is this reference alone. */
  readonly isWhole: boolean;
  /** A step id, or a name inside the forEach. */
  readonly source: { readonly type: "step" | "scope"; readonly name: string };
  readonly path: readonly PathSegment[];
}

/**
 * A step while its document is read, between a dialect and the canonical form. Its fields change as more is
 * known.
 */
export interface DraftStep {
  /** Position in the plan. */
  index: number;
  /** Where it stood in the document, from 0; below 0 for a step that was put in. */
  position: number;
  id: string;
  /** False while the id was made up from the tool's name. */
  hasOwnId: boolean;
  /** The id as it was written, when it is none that a plan can have: `1`, `step 1`, `functions.find:0`. */
  writtenId: string | undefined;
  /**
   * Further names that its writer gave to the step or to what it gives, such as `$var1`. References may use
   * them; the plan does not hold them.
   */
  labels: readonly string[];
  tool: string;
  /** Of the call; for a forEach those of `do`. */
  arguments: JsonObject;
  forEach: ForEach | undefined;
  when: Condition | undefined;
  /** As written: ids of steps or names of tools; ids once they are resolved. */
  dependsOn: string[];
  /** Names of fields that its output holds, as the call itself says. */
  provides: string[];
  options: StepOptions;
  references: DraftReference[];
  /**
   * References whose root is not known. They have diagnostics of their own; nothing is known of their values.
   */
  refused: Pick<DraftReference, "keys" | "isWhole">[];
}

/** A step of which nothing is known but what is given. */
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

/** Steps that one step may wait for explicitly. */
export const MAX_DEPENDENCIES = 1_000;

/** Keys below a step that lead to the arguments of its call. */
export function argumentKeys(step: DraftStep): readonly string[] {
  return step.forEach ? ["forEach", "do", "arguments"] : ["arguments"];
}

/** Keys below a step that lead to the tool of its call. */
export function toolKeys(step: DraftStep): readonly string[] {
  return step.forEach ? ["forEach", "do", "tool"] : ["tool"];
}
