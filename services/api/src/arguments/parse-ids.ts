import {
  type PlanId,
  PlanIdSchema,
  type RequestId,
  RequestIdSchema,
  type StepId,
  StepIdSchema,
} from "@planwright/plan";
import { BadInputError } from "../errors/api-errors.ts";

/** @throws {BadInputError} if the text does not look like a request id */
export function parseRequestId(text: string): RequestId {
  const parsed = RequestIdSchema.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new BadInputError(
    "requestId",
    `Not a request id: ${shortened(text)}`,
    "A request id looks like req_1700000000_abcdefghijklmnopqrst.",
  );
}

/** @throws {BadInputError} if the text does not look like a plan id */
export function parsePlanId(text: string): PlanId {
  const parsed = PlanIdSchema.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new BadInputError(
    "planId",
    `Not a plan id: ${shortened(text)}`,
    "A plan id looks like plan_1700000000_abcdefghijklmnopqrst.",
  );
}

/** @throws {BadInputError} if the text cannot be the id of a step */
export function parseStepId(text: string): StepId {
  const parsed = StepIdSchema.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new BadInputError(
    "stepId",
    `Not a step id: ${shortened(text)}`,
    "request(requestId) { plan { steps { id } } } lists the ids of the steps.",
  );
}

/** @throws {BadInputError} if the text cannot be the key of a step or of an item, such as "each[3]" */
export function parseStepKey(text: string): string {
  if (/^[A-Za-z][A-Za-z0-9_-]{0,63}(\[\d{1,6}\])?$/.test(text)) return text;
  throw new BadInputError(
    "stepKey",
    `Not the key of a step: ${shortened(text)}`,
    "request(requestId) { plan { steps { key } } } lists the keys of steps and items.",
  );
}

/** What was given, quoted, short enough for a message. */
function shortened(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}
