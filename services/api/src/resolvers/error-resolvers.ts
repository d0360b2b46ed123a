import { type FailedUnit, remedyWhile, stepAdvice } from "@planwright/engine";
import { planningAdvice } from "@planwright/plan";

/** Fields of StepError that are not recorded. `unit` is the step; absent for errors of attempts and plans. */
export const stepErrorResolvers = {
  remedy({ code, unit }: { code: string; unit?: FailedUnit }): string {
    const { why, remedy } = stepAdvice(code, undefined, unit);
    if (unit?.status === "IN_DOUBT") return `${why} ${remedyWhile("in doubt", code)}`;
    return `${why} ${unit?.status === "RETRYING" ? remedyWhile("tried again", code) : remedy}`;
  },
};

/** Fields of Problem that are not recorded. */
export const problemResolvers = {
  remedy({ code }: { code: string }): string {
    const { why, remedy } = planningAdvice(code);
    return `${why} ${remedy}`;
  },
};
