import { PlanIdSchema, RequestIdSchema, StepIdSchema } from "@planwright/plan";
import { z } from "zod";
import { BadInputError } from "../errors/input-errors.ts";
import { PlanNotFoundError, RequestNotFoundError } from "../errors/not-found-errors.ts";
import { quoted } from "./text.ts";

const StepKeySchema = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}(\[\d{1,6}\])?$/);

/**
 * Ids of an older system: nine random characters, alone or after a prefix and a time. No request or plan here
 * has such an id, so it is not known rather than malformed.
 */
const OLD_ID = /^(?:(?:req|plan)_[0-9]{10,13}_)?[A-Za-z0-9]{9}$/;

/**
 * @throws {RequestNotFoundError} for the id of an older system
 * @throws {BadInputError} if the text does not look like a request id
 */
export const parseRequestId = parserOf(RequestIdSchema, {
  argument: "requestId",
  what: "a request id",
  unknown: (id) => new RequestNotFoundError(id),
  remedy: "A request id looks like req_1700000000_abcdefghijklmnopqrst.",
});

/**
 * @throws {PlanNotFoundError} for the id of an older system
 * @throws {BadInputError} if the text does not look like a plan id
 */
export const parsePlanId = parserOf(PlanIdSchema, {
  argument: "planId",
  what: "a plan id",
  unknown: (id) => new PlanNotFoundError(id),
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
  {
    argument,
    what,
    remedy,
    unknown,
  }: { argument: string; what: string; remedy: string; unknown?: (id: string) => Error },
): (text: string) => Id {
  return (text) => {
    const parsed = schema.safeParse(text);
    if (parsed.success) return parsed.data;
    if (unknown && OLD_ID.test(text)) throw unknown(text);
    throw new BadInputError(argument, `Not ${what}: ${quoted(text)}`, remedy);
  };
}
