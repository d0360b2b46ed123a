import { type Diagnostic, type Plan, parsePlan, pinTools, type ToolPin } from "@planwright/plan";
import type { AmendedPlan, RequestDocument } from "@planwright/store";
import { parseVersion, type VersionInput } from "../arguments/parse-version.ts";
import { readPlanInput } from "../arguments/plan-input.ts";
import { PlanInvalidError, StateConflictError } from "../errors/api-errors.ts";
import type { OperationContext } from "../operation/context.ts";
import { findRequest } from "../requests/find-request.ts";
import { MAX_NAMED, refuseVersion } from "./refuse-version.ts";
import { storedDiagnostics } from "./submit-plan.ts";

/** Arguments of the mutation amendPlan. */
export interface AmendInput extends VersionInput {
  requestId: string;
  plan: unknown;
  execute: boolean;
}

/** The result of the mutation. */
export interface Amendment {
  request: RequestDocument;
  /** Null for a repeated idempotencyKey. */
  carried: readonly string[] | null;
  repeated: readonly string[] | null;
  notRepeated: readonly string[] | null;
}

/**
 * Replaces a request's plan that has ended, or was not started. A repeated key makes no other version.
 * @throws {IdempotencyKeyReusedError} for a key that was used with other arguments
 * @throws {BadInputError | RequestNotFoundError | PlanInvalidError | StateConflictError | NotReadyError}
 * @throws {PlanningFailedError | NeedsInputError} when there never was a plan
 */
export async function amendPlan(context: OperationContext, input: AmendInput): Promise<Amendment> {
  const { value, raw } = readPlanInput(input.plan);
  const version = parseVersion(input, ["amendPlan", input.requestId, value, input.execute]);
  const request = await findRequest(context, input.requestId);
  const { _id: requestId } = request;
  const earlier =
    version.idempotency && (await context.store.findAmended(context.tenant, requestId, version.idempotency));
  if (earlier) return repeated(earlier);
  const { plan, toolPins, diagnostics } = await checked(context, request, value);
  const answer = await context.store.amendPlan(context.tenant, requestId, {
    plan,
    toolPins,
    raw,
    diagnostics,
    autoExecute: input.execute,
    by: context.by,
    ...version,
  });
  switch (answer.type) {
    case "amended":
      return amended(context, answer);
    case "repeated":
      return repeated(answer);
    case "may have acted":
      throw new StateConflictError(
        { requestId, steps: answer.keys.slice(0, MAX_NAMED), status: "FAILED" },
        `A call of these steps had an effect, or may have had one: ${answer.keys.slice(0, MAX_NAMED).join(", ")}. With other content it would be a second call`,
        "Leave these steps unchanged: their calls then have the same idempotency key and act once. Or rerun the plan first.",
      );
    default:
      return refuseVersion(requestId, answer, {
        can: "be amended",
        version: "version",
        plans: "a plan that has ended or was not started",
      });
  }
}

/** @throws {PlanInvalidError} then nothing is stored */
async function checked(
  { knownTools, tenant, maxStepTimeoutMs }: OperationContext,
  { _id: requestId, planId }: RequestDocument,
  value: unknown,
): Promise<{ plan: Plan; toolPins: ToolPin[]; diagnostics: Diagnostic[] }> {
  const { tools, parsed } = await knownTools.ask(
    tenant,
    (known) => ({ tools: known, parsed: parsePlan(value, { tools: known, maxStepTimeoutMs }) }),
    ({ parsed: { ok } }) => ok,
  );
  if (parsed.ok) {
    const { plan, diagnostics } = parsed;
    return { plan, toolPins: pinTools(plan, tools), diagnostics: storedDiagnostics(diagnostics) };
  }
  throw new PlanInvalidError({ requestId, planId }, parsed.diagnostics, {
    remedy:
      "Correct the plan as the diagnostics say and try again; nothing was stored, and the earlier plan stays.",
  });
}

function repeated({ request }: { request: RequestDocument }): Amendment {
  return { request, carried: null, repeated: null, notRepeated: null };
}

function amended({ operation, offers }: OperationContext, answer: AmendedPlan): Amendment {
  const { request, plan, carried, repeated, notRepeated } = answer;
  operation?.about(request._id, request.trace);
  if (plan.status === "QUEUED") offers.offerExecution(plan._id, plan.epoch);
  return { request, carried, repeated, notRepeated };
}
