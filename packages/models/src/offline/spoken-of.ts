import type { JsonValue } from "@planwright/plan";
import { POINTERS, PRONOUNS } from "./lexicon.ts";
import { linkTo, outputsAsText, type PlannedStep } from "./links.ts";
import type { Parameter } from "./parameter.ts";
import type { Token } from "./tokens.ts";
import { isPlural, stem } from "./words.ts";

/** What "it", "them", "the results", "its content" or "that blog" stand for. */
export interface SpokenOf {
  next: number;
  /** References to the things made, as ids for a parameter that points to such things; else none. */
  idsFor: (parameter: Parameter) => JsonValue[];
  /** References to the whole outputs, in the form that the parameter takes; null when it can take none. */
  outputsFor: (parameter: Parameter) => JsonValue | null;
}

const RESULT_WORDS = new Set("result results output outputs answer answers response responses".split(" "));

/** Finds what the words at a position point back to; null when they do not point back, or to nothing. */
export function spokenOf(
  { tokens, steps }: { tokens: readonly Token[]; steps: readonly PlannedStep[] },
  at: number,
): SpokenOf | null {
  const token = tokens[at];
  const last = steps.at(-1);
  if (token?.kind !== "word" || !last) return null;
  const ofClause = (clause: number) => steps.filter((step) => step.clause === clause);
  const noun = POINTERS.has(token.lower) || token.lower === "all" ? tokens[at + 1] : undefined;
  if (noun?.kind === "word") {
    const said = stem(noun.lower);
    if (RESULT_WORDS.has(noun.lower)) return pointTo(ofClause(last.clause), null, at + 2);
    const field = [...last.words.outputs].find((name) => name.toLowerCase() === noun.lower);
    const maker = steps.findLast(
      (step) => step.words.thing === said || step.words.describedNouns.includes(said),
    );
    if (maker && (maker.words.thing === said || field === undefined)) {
      const makers = ofClause(maker.clause).filter((step) => step.words === maker.words);
      const isAll =
        isPlural(noun.lower) || makers.length === 1 || maker.words.thing !== said || !canBePlural(maker);
      return isAll ? pointTo(makers, null, at + 2) : null;
    }
    return field !== undefined && ofClause(last.clause).length === 1 ? pointTo([last], field, at + 2) : null;
  }
  if (!PRONOUNS.has(token.lower)) return null;
  const found = ofClause(last.clause);
  const spoken = pointTo(found, null, at + 1);
  return token.lower === "it" && found.length > 1 ? { ...spoken, idsFor: () => [] } : spoken;
}

/** A tool that makes one thing at a time with an id: "the blog" then means one of several. */
const canBePlural = (step: PlannedStep) => step.words.outputs.has("_id") || step.words.outputs.has("id");

/** The id of what a step made, or what the step itself used to name it: the path of a file that was written. */
function identityOf(parameter: Parameter, step: PlannedStep): JsonValue | null {
  const link = linkTo(parameter, step);
  if (link !== null) return link;
  if (parameter.link || !SHARED_NAMES.has(parameter.words.at(-1) ?? "")) return null;
  if (step.words.outputs.has(parameter.name)) return `<<${step.id}.${parameter.name}>>`;
  return Object.hasOwn(step.arguments, parameter.name) ? (step.arguments[parameter.name] ?? null) : null;
}

/** Parameters that name the same thing in every tool of its kind. */
const SHARED_NAMES = new Set("path filename file url uri symbol sku".split(" "));

function pointTo(steps: readonly PlannedStep[], field: string | null, next: number): SpokenOf {
  const end = field === null ? "" : `.${field}`;
  return {
    next,
    idsFor: (parameter) => (field === null ? steps.flatMap((step) => identityOf(parameter, step) ?? []) : []),
    outputsFor: (parameter) => {
      if (parameter.type === "array") return steps.map((step) => `<<${step.id}${end}>>`);
      if (parameter.type !== "string") return null;
      return field === null ? outputsAsText(steps) : steps.map((step) => `<<${step.id}${end}>>`).join("\n");
    },
  };
}
