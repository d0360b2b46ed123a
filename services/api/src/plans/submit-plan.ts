import { type Diagnostic, type Plan, parsePlan, pinTools } from "@planwright/plan";
import type { RequestDocument } from "@planwright/store";
import { parseRequestOptions, type RequestOptionsInput } from "../arguments/parse-options.ts";
import { readPlanInput } from "../arguments/plan-input.ts";
import { parseQuery, toIdempotency } from "../arguments/text.ts";
import { PlanInvalidError } from "../errors/api-error.ts";
import type { OperationContext } from "../operation/context.ts";

/** Most diagnostics that are stored with a plan. */
const STORED_DIAGNOSTICS = 1_000;

/** Arguments of the mutation submitPlan. */
export interface SubmitInput extends RequestOptionsInput {
  plan: unknown;
  execute: boolean;
  query?: string | null;
  idempotencyKey?: string | null;
}

/**
 * Accepts a plan as JSON. An invalid plan is stored with its diagnostics, and nothing is queued. A repeated
 * key returns the first answer, even if the tool catalogue has changed.
 * @throws {BadInputError | PlanInvalidError | IdempotencyKeyReusedError}
 */
export async function submitPlan(context: OperationContext, input: SubmitInput): Promise<RequestDocument> {
  const { store, offers, tenant, operation } = context;
  const query = input.query === undefined || input.query === null ? null : parseQuery(input.query);
  const { value, raw } = readPlanInput(input.plan);
  const { options, payload } = parseRequestOptions(input, context.modelLimits);
  const asked = ["submitPlan", query, input.execute, value, ...payload];
  const idempotency = toIdempotency(input.idempotencyKey, asked);
  const known = await parseKnown(context, value);
  const { request, plan } = await store.submitPlan({
    tenant,
    query,
    plan: known.parsed.ok ? known.parsed.plan : null,
    raw,
    ...toStored(known),
    autoExecute: input.execute,
    ...options,
    trace: operation?.origin,
    idempotency,
    reserve: (unstored) => offers.reserveExecution(unstored),
  });
  operation?.about(request._id, request.trace);
  if (plan.status === "INVALID") {
    throw new PlanInvalidError({ requestId: request._id, planId: plan._id }, plan.diagnostics);
  }
  if (plan.status === "QUEUED") offers.offerExecution(plan);
  return request;
}

/** A plan parsed with the tools that the tenant knows. */
export function parseKnown({ knownTools, tenant, maxStepTimeoutMs }: OperationContext, value: unknown) {
  return knownTools.ask(
    tenant,
    (tools, leftOut) => ({ tools, parsed: parsePlan(value, { tools, leftOut, maxStepTimeoutMs }) }),
    ({ parsed: { ok } }) => ok,
  );
}

/** What is stored with a parsed plan. */
export function toStored({ parsed, tools }: Awaited<ReturnType<typeof parseKnown>>) {
  const toolPins = parsed.ok ? pinTools(parsed.plan, tools) : undefined;
  return { toolPins, diagnostics: storedDiagnostics(parsed.diagnostics) };
}

/** The stored diagnostics: errors before warnings, otherwise in order, at most 1,000. */
function storedDiagnostics(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const isError = (diagnostic: Diagnostic) => diagnostic.severity === "error";
  const errorsFirst = [...diagnostics.filter(isError), ...diagnostics.filter((one) => !isError(one))];
  return errorsFirst.slice(0, STORED_DIAGNOSTICS);
}

/** The result of checking a plan. */
interface PlanCheck {
  valid: boolean;
  plan: Plan | null;
  diagnostics: Diagnostic[];
}

/** Checks a plan against the catalogue and stores nothing. @throws {BadInputError} */
export async function checkPlan(context: OperationContext, plan: unknown): Promise<PlanCheck> {
  const { parsed } = await parseKnown(context, readPlanInput(plan).value);
  return { valid: parsed.ok, plan: parsed.ok ? parsed.plan : null, diagnostics: parsed.diagnostics };
}
