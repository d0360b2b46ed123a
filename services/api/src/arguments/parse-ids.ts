import { PlanIdSchema, RequestIdSchema, StepIdSchema } from "@planwright/plan";
import { z } from "zod";
import { BadInputError } from "../errors/input-errors.ts";
import { quoted } from "./text.ts";

const StepKeySchema = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}(\[\d{1,6}\])?$/);

/** @throws {BadInputError} if the text does not look like a request id */
export const parseRequestId = parserOf(RequestIdSchema, {
  argument: "requestId",
  what: "a request id",
  remedy: "A request id looks like req_1700000000_abcdefghijklmnopqrst.",
});

/** @throws {BadInputError} if the text does not look like a plan id */
export const parsePlanId = parserOf(PlanIdSchema, {
  argument: "planId",
  what: "a plan id",
  remedy: "A plan id looks like plan_1700000000_abcdefghijklmnopqrst.",
});

/** @throws {BadInputError} if the text cannot be the id of a step */
export const parseStepId = parserOf(StepIdSchema, {
  argument: "stepId",
  what: "a step id",
  remedy: "request(requestId) { plan { steps { id } } } lists the ids of the steps.",
});

/** @throws {BadInputError} if the text cannot be the key of a step or of an item, such as "each[3]" */
export const parseStepKey = parserOf(StepKeySchema, {
  argument: "stepKey",
  what: "the key of a step",
  remedy: "request(requestId) { plan { steps { key } } } lists the keys of steps and items.",
});

function parserOf<Id>(
  schema: z.ZodType<Id>,
  { argument, what, remedy }: { argument: string; what: string; remedy: string },
): (text: string) => Id {
  return (text) => {
    const parsed = schema.safeParse(text);
    if (parsed.success) return parsed.data;
    throw new BadInputError(argument, `Not ${what}: ${quoted(text)}`, remedy);
  };
}
