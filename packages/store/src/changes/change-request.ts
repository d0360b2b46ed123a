import { type FoldedRequest, type JournalEvent, JournalInvalidError } from "@planwright/engine";
import { type RequestId, UNSTARTED_PLAN_STATUSES } from "@planwright/plan";
import type { Idempotency } from "../acceptance/acceptance-store.ts";
import type { StoreDependencies } from "../journal/dependencies.ts";
import { RequestLagsError } from "../journal/errors.ts";
import type { NewEntry } from "../journal/journal.ts";
import { nextEntry } from "../journal/next-entry.ts";
import type { FollowingWrite } from "../journal/turn-log.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import type { RequestDocument } from "../records/request-document.ts";
import type { Repeated } from "./change-store.ts";
import { entryKeyOf, findRepeated } from "./repeated.ts";

/**
 * How often a request whose document lags is read again, and the wait between two reads, in milliseconds.
 * Before each read its outbox is settled; the first one does not wait.
 */
const MAX_LAGS = 10;
const LAG_MS = 200;

/**
 * A request and the state folded from its journal, when a change is decided. The documents were read before
 * the journal, so the journal has at least what they say.
 */
export interface ChangedRequest {
  request: RequestDocument;
  /** The current version of its plan; null while there is none. */
  plan: PlanDocument | null;
  state: FoldedRequest;
}

/** An entry to append, with the writes to documents that follow it. */
export interface ChangeEntry<Changed> {
  type: "append";
  events: JournalEvent[];
  by: string;
  /** The version that the entry is about. Default: the current one. */
  planId?: PlanDocument["_id"];
  following: (entry: NewEntry) => FollowingWrite[];
  /** See `Turn`. */
  isKept?: boolean;
  /** The answer once the entry is appended. */
  changed: Changed;
}

/** An entry to append, or an answer when nothing is to be changed. */
export type ChangeDecision<Answer, Changed> = ChangeEntry<Changed> | { type: "answer"; answer: Answer };

/** A change that a client asks for. */
export interface RequestChange<Answer, Changed> {
  tenant: string;
  requestId: RequestId;
  /** Such as "rerun": keys of different operations are separate. */
  operation: string;
  /** Default: a repeated call changes the request again. */
  idempotency?: Idempotency | undefined;
  /** Called again when another entry was appended first. */
  decide: (now: ChangedRequest) => ChangeDecision<Answer, Changed> | Promise<ChangeDecision<Answer, Changed>>;
}

/**
 * Changes a request by an entry of its journal. The entry follows from all entries before it: of simultaneous
 * changes one is appended first, and the others are decided again after it. The idempotency key is part of
 * the entry. Undefined for an unknown request, for one that is being removed, and for another tenant's.
 * @throws {IdempotencyKeyReusedError} when the key made another change
 * @throws {RequestLagsError} when the request's document still lags after all tries
 */
export async function changeRequest<Answer, Changed>(
  context: StoreDependencies,
  change: RequestChange<Answer, Changed>,
): Promise<Answer | Changed | Repeated | undefined> {
  try {
    return await appendChange(context, change);
  } catch (error) {
    if (!(error instanceof JournalInvalidError)) throw error;
    // A removal has begun since the request was read: its entries go one after the other.
    if (await context.collections.requests.findOne({ _id: change.requestId })) throw error;
    return undefined;
  }
}

async function appendChange<Answer, Changed>(
  context: StoreDependencies,
  { tenant, requestId, operation, idempotency, decide }: RequestChange<Answer, Changed>,
): Promise<Answer | Changed | Repeated | undefined> {
  const { collections, unitReads, turns, settleOutbox } = context;
  const key = idempotency && entryKeyOf(operation, idempotency);

  const repeated = async (): Promise<Repeated | undefined> =>
    key && findRepeated(context, { tenant, requestId }, key);

  for (let lags = 0; ; ) {
    const earlier = await repeated();
    if (earlier) return earlier;
    const request = await collections.requests.findOne({ _id: requestId, tenant });
    if (!request) return undefined;
    const plan = await collections.plans.findOne({ _id: request.planId, tenant });
    const now = { request, plan, state: await unitReads.ofRequest(requestId) };
    if (now.state.isRemoved) return undefined;
    if (lagsBehind(now)) {
      lags += 1;
      if (lags > MAX_LAGS) throw new RequestLagsError({ requestId });
      await settleOutbox.ofRequest(requestId);
      if (lags > 1) await context.sleep(LAG_MS);
      continue;
    }
    const decided = await decide(now);
    // Another call with the same key may have appended this change meanwhile.
    if (decided.type === "answer") return (await repeated()) ?? decided.answer;
    const { events, by, following, planId: _id = request.planId, isKept = false } = decided;
    const content = { by: { kind: "api" as const, id: by }, events, ...(key && { idempotency: key }) };
    const { entry } = nextEntry({ _id, requestId, tenant }, now.state, content);
    const { type } = await turns.append({ entry, following, isKept });
    if (type === "appended") return decided.changed;
    if (type === "removed") return undefined;
  }
}

/**
 * True while the journal is ahead of the documents: it has a version or a replan that the request's document
 * does not have, or events of a plan whose document says that it was not started. The process that appended
 * them is writing the documents now, or has died; the outbox keeps these writes until they are done. Pure.
 */
function lagsBehind({ request, plan, state }: ChangedRequest): boolean {
  const { plans } = state;
  const { version, status, planning } = request;
  const foldedVersion = [...plans.values()].at(-1)?.version ?? 0;
  const isFirst = status === "PLANNING" && (planning.work ?? "plan") === "plan";
  if (foldedVersion > version || (isFirst && foldedVersion === version)) return true;
  const isPlanned = status === "PLANNING" || status === "NEEDS_INPUT";
  if (state.planning.replanAsked && !isPlanned) return true;
  const isUnstarted = (of: PlanDocument["status"]): boolean => UNSTARTED_PLAN_STATUSES.includes(of);
  return plan !== null && isUnstarted(plan.status) && !isUnstarted(statusOf(plan, plans));
}

/** The journal has no event of an accepted plan before it is started. */
function statusOf({ _id }: PlanDocument, plans: FoldedRequest["plans"]): PlanDocument["status"] {
  return plans.get(_id)?.status ?? "READY";
}

/**
 * True when the caller has read another version than the current one.
 * @param seen - the version that the caller has read; undefined: it did not say
 */
export function isOtherVersion(
  { version }: Pick<RequestDocument, "version">,
  seen: number | undefined,
): boolean {
  return seen !== undefined && seen !== version;
}
