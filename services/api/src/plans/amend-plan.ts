import type { AmendedPlan, RequestDocument } from "@planwright/store";
import { applyPatch, type PatchOperation, parsePatch } from "../arguments/json-patch.ts";
import { type GivenPlan, readPlanInput } from "../arguments/plan-input.ts";
import { parseAcceptRepeat, parseVersion, type RepeatInput, type VersionInput } from "../arguments/text.ts";
import { BadInputError, MAX_NAMED, PlanInvalidError, StateConflictError } from "../errors/api-error.ts";
import type { OperationContext } from "../operation/context.ts";
import { refuseVersion } from "./execute-plan.ts";
import { findRequest } from "./find-request.ts";
import { parseKnown, toStored } from "./submit-plan.ts";

/** Arguments of the mutation amendPlan. */
export interface AmendInput extends VersionInput, RepeatInput {
  requestId: string;
  /** The complete plan. */
  plan?: unknown;
  /** JSON Patch for the document of the version `fromVersion`; instead of `plan`. */
  patch?: unknown;
  /** Version whose plan is used again unchanged; instead of both. */
  restoreVersion?: number | null;
  execute: boolean;
}

/** The result of the mutation. */
interface Amendment {
  request: RequestDocument;
  /** Null for a repeated idempotencyKey. */
  carried: readonly string[] | null;
  repeated: readonly string[] | null;
  notRepeated: readonly string[] | null;
}

/**
 * Replaces a request's plan that has ended or was not started. A repeated key makes no second version.
 * @throws {IdempotencyKeyReusedError} for a key that was used with other arguments
 * @throws {BadInputError | RequestNotFoundError | PlanInvalidError | StateConflictError | NotReadyError}
 * @throws {PlanningFailedError | NeedsInputError} when there never was a plan
 */
export async function amendPlan(context: OperationContext, input: AmendInput): Promise<Amendment> {
  const given = readAmendment(input);
  const asked = identifiedBy(given);
  const acceptRepeat = parseAcceptRepeat(input);
  const payload = ["amendPlan", input.requestId, asked, input.execute, ...acceptRepeat];
  const version = parseVersion(input, payload);
  const request = await findRequest(context, input.requestId);
  const { _id: requestId } = request;
  const earlier =
    version.idempotency && (await context.store.findAmended(context.tenant, version.idempotency));
  if (earlier) return repeated(earlier);
  const { value, raw } = await planOf(context, request, given, version.fromVersion);
  const known = await parseKnown(context, value);
  const { parsed } = known;
  if (!parsed.ok) {
    const remedy =
      "Correct the plan as the diagnostics say and try again; nothing was stored, and the earlier plan is kept.";
    throw new PlanInvalidError({ requestId, planId: request.planId }, parsed.diagnostics, { remedy });
  }
  const answer = await context.store.amendPlan(context.tenant, requestId, {
    plan: parsed.plan,
    raw,
    ...toStored(known),
    autoExecute: input.execute,
    by: context.by,
    acceptRepeat,
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
        "Leave these steps unchanged: calls with an idempotency key then act once. Or name them in acceptRepeat.",
      );
    default:
      return refuseVersion(requestId, answer, {
        can: "be amended",
        version: "version",
        plans: "a plan that has ended or was not started",
      });
  }
}

type GivenAmendment =
  | { type: "plan"; plan: GivenPlan }
  | { type: "patch"; patch: PatchOperation[] }
  | { type: "restore"; restoreVersion: number };

/** The part of the arguments that an idempotency key identifies, beside the operation. */
function identifiedBy(given: GivenAmendment): unknown {
  switch (given.type) {
    case "plan":
      return given.plan.value;
    case "patch":
      return { patch: given.patch };
    case "restore":
      return { restoreVersion: given.restoreVersion };
  }
}

/** @throws {BadInputError} */
function readAmendment(input: AmendInput): GivenAmendment {
  const { plan = null, patch = null, restoreVersion = null, fromVersion } = input;
  if ([plan, patch, restoreVersion].filter((given) => given !== null).length !== 1) {
    throw new BadInputError(
      "patch",
      "amendPlan needs exactly one of plan, patch and restoreVersion",
      "Give the complete plan as plan, its changes as patch with fromVersion, or an earlier version as restoreVersion.",
    );
  }
  if (restoreVersion !== null) return { type: "restore", restoreVersion };
  if (patch === null) return { type: "plan", plan: readPlanInput(plan) };
  if (fromVersion === undefined || fromVersion === null) {
    throw new BadInputError(
      "fromVersion",
      "A patch needs fromVersion, because it changes only the version that it was written for",
      "Give the version of the plan whose document the patch was written for.",
    );
  }
  return { type: "patch", patch: parsePatch(patch) };
}

/**
 * The given plan, or the plan that the patch or the earlier version results in.
 * @throws the errors of {@link patched} and {@link restored}
 */
async function planOf(
  context: OperationContext,
  request: RequestDocument,
  given: GivenAmendment,
  fromVersion: number | undefined,
): Promise<GivenPlan> {
  switch (given.type) {
    case "plan":
      return given.plan;
    case "patch":
      return patched(context, request, { patch: given.patch, fromVersion });
    case "restore":
      return restored(context, request, given.restoreVersion);
  }
}

/** The document of an earlier version. @throws {BadInputError} when there is none */
async function restored(
  { store, tenant }: OperationContext,
  { _id: requestId }: RequestDocument,
  version: number,
): Promise<GivenPlan> {
  const versions = await store.listPlanHeadsOf(tenant, [requestId]);
  const planId = versions.find((head) => head.version === version)?._id;
  const plan = planId === undefined ? null : ((await store.getPlan(tenant, planId))?.plan ?? null);
  if (plan !== null) return readPlanInput(plan);
  throw new BadInputError(
    "restoreVersion",
    `The request has no version ${version} with a plan that can be used again`,
    "Give the version of one of Request.plans whose document is not null.",
  );
}

/**
 * The document of the current plan with a patch applied.
 * @throws {StateConflictError} when another version is current
 * @throws {BadInputError} for an operation that cannot be applied
 * @throws {NotReadyError | PlanInvalidError | PlanningFailedError | NeedsInputError} when there is no plan
 */
async function patched(
  { store, tenant }: OperationContext,
  request: RequestDocument,
  { patch, fromVersion }: { patch: readonly PatchOperation[]; fromVersion?: number | undefined },
): Promise<GivenPlan> {
  const words = { can: "be amended", version: "version" };
  const { _id: requestId } = request;
  if (request.version !== fromVersion) refuseVersion(requestId, { type: "other version", request }, words);
  const plan = await store.getPlan(tenant, request.planId);
  if (!plan) return refuseVersion(requestId, { type: "no plan", request }, words);
  if (plan.plan === null) return refuseVersion(requestId, { type: "invalid", request, plan }, words);
  return readPlanInput(applyPatch(plan.plan, patch));
}

function repeated({ request }: { request: RequestDocument }): Amendment {
  return { request, carried: null, repeated: null, notRepeated: null };
}

function amended({ operation, offers }: OperationContext, answer: AmendedPlan): Amendment {
  const { request, plan, carried, repeated, notRepeated } = answer;
  operation?.about(request._id, request.trace);
  if (plan.status === "QUEUED") offers.offerExecution(plan);
  return { request, carried, repeated, notRepeated };
}
