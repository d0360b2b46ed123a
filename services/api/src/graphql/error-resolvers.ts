import { stepAdvice } from "@planwright/engine";
import { planningAdvice } from "@planwright/plan";

/** Fields of StepError that are not recorded. */
export const stepErrorResolvers = {
  remedy({ code }: { code: string }): string {
    const { why, remedy } = stepAdvice(code);
    return `${why} ${remedy}`;
  },
};

/** Fields of Problem that are not recorded. */
export const problemResolvers = {
  remedy({ code }: { code: string }): string {
    const { why, remedy } = planningAdvice(code);
    return `${why} ${remedy}`;
  },
};
