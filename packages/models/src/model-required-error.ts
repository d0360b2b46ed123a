import { DraftError } from "./draft-error.ts";

const REMEDIES = {
  replan:
    "The offline drafter cannot make a plan anew from what became of it. Set MODEL to a language model, or take away the cause of the failure and use rerun, which repeats what failed.",
  answer:
    "The offline drafter cannot tell results in words. Set MODEL to a language model; the results themselves stand in the outputs of the plan.",
} as const;

/** What was asked for needs a language model, and none is set. */
export class ModelRequiredError extends DraftError<{ work: keyof typeof REMEDIES }> {
  readonly code = "MODEL_REQUIRED";
  readonly retryable = false;
  constructor(work: keyof typeof REMEDIES) {
    super(REMEDIES[work], { work });
  }
}
