import { DraftError } from "@planwright/models";
import type { OpenDraft } from "@planwright/reading";

/** The sentences that it understands, in short. */
const UNDERSTOOD =
  'It understands "<verb> <noun> <name> with <parameter> <value>, then ...", with "titled", "about", "saying", "by <name>" and "on that <noun>".';

/** The offline drafter does not understand a part of the sentence; it never guesses. */
export class NotUnderstoodError extends DraftError<{
  clause: string;
  reason: string;
  nearestTools: readonly string[];
}> {
  readonly code = "NOT_UNDERSTOOD";
  readonly retryable = false;
  constructor(facts: { clause: string; reason: string; nearestTools: readonly string[] }) {
    const nearest =
      facts.nearestTools.length > 0 ? ` The nearest tools are ${facts.nearestTools.join(", ")}.` : "";
    super(
      `The offline drafter does not understand "${facts.clause}": ${facts.reason}.${nearest} ${UNDERSTOOD} Set MODEL to plan other sentences with a language model.`,
      facts,
    );
  }
}

/** A value that a tool needs. */
export interface MissingValue {
  tool: string;
  parameter: string;
  description: string | null;
  /** The words in place of the value, which cannot be the value: a name where an address is required. */
  said: string | null;
  /** What it must be, as text: "an e-mail address", "one of low, high". */
  form: string;
}

/** Required values that the sentence does not give. The drafter never invents a value. */
export class ValueMissingError extends DraftError<{
  clause: string;
  /** Which of several objects of the clause; null when it mentions one. */
  object: string | null;
  missing: readonly MissingValue[];
  /** The plan of the complete sentence, and the gaps in it. */
  open: OpenDraft;
}> {
  readonly code = "VALUE_MISSING";
  readonly retryable = false;
  constructor(facts: {
    clause: string;
    object: string | null;
    missing: readonly MissingValue[];
    open: OpenDraft;
  }) {
    const [first] = facts.missing;
    const named = facts.missing
      .filter(({ tool }) => tool === first?.tool)
      .map(
        ({ parameter, description }) => `"${parameter}"${description === null ? "" : ` (${description})`}`,
      );
    super(
      `"${facts.clause}" gives${facts.object === null ? "" : ` for "${facts.object}"`} no value for ${named.join(" and ")}, which ${first?.tool ?? "the tool"} requires. Add it to the sentence, for example: with ${first?.parameter ?? "name"} "...".`,
      facts,
    );
  }
}

const REMEDIES = {
  replan:
    "The offline drafter cannot replan. Set MODEL to a language model, or remove the cause of the failure and use rerun, which repeats what failed.",
  answer:
    "The offline drafter cannot put results into words. Set MODEL to a language model; the results themselves are in the outputs of the plan.",
} as const;

/** The request needs a language model, and none is set. */
export class ModelRequiredError extends DraftError<{ work: keyof typeof REMEDIES }> {
  readonly code = "MODEL_REQUIRED";
  readonly retryable = false;
  constructor(work: keyof typeof REMEDIES) {
    super(REMEDIES[work], { work });
  }
}
