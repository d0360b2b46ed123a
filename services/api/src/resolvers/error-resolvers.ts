import { remedyWhile, stepAdvice } from "@planwright/engine";
import { planningAdvice, type StepStatus } from "@planwright/plan";

/**
 * Fields of StepError that are not recorded. `status` is the status of the step; absent for errors of
 * attempts and plans.
 */
export const stepErrorResolvers = {
  remedy({ code, status }: { code: string; status?: StepStatus }): string {
    const { why, remedy } = stepAdvice(code);
    if (status === "IN_DOUBT") return `${why} ${remedyWhile("in doubt", code)}`;
    return `${why} ${status === "RETRYING" ? remedyWhile("tried again", code) : remedy}`;
  },
};

/** Fields of Problem that are not recorded. */
export const problemResolvers = {
  remedy({ code }: { code: string }): string {
    const { why, remedy } = planningAdvice(code);
    return `${why} ${remedy}`;
  },
};
