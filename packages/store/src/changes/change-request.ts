import type { FoldedRequest, JournalEvent } from "@planwright/engine";
import { type RequestId, UNSTARTED_PLAN_STATUSES } from "@planwright/plan";
import type { Idempotency } from "../acceptance/acceptance-store.ts";
import type { StoreDependencies } from "../journal/dependencies.ts";
import { RequestLagsError } from "../journal/errors.ts";
import type { NewEntry } from "../journal/journal.ts";
import { nextEntry } from "../journal/next-entry.ts";
import type { Following } from "../journal/turn-log.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import type { RequestDocument } from "../records/request-document.ts";
import type { Repeated } from "./change-store.ts";
import { entryKeyOf, findRepeated } from "./repeated.ts";

/**
 * How often a request whose document lags is read again, and the waits in between, in milliseconds. The first
 * time its outbox is settled.
 */
const MAX_LAGS = 10;
const LAG_MS = 200;

/**
 * A request with what its journal tells, when a change of it is decided. The documents were read first: the
 * journal tells all that they say.
 */
export interface ChangedRequest {
  request: RequestDocument;
  /** The current version of its plan; null while there is none. */
  plan: PlanDocument | null;
  state: FoldedRequest;
}

/** What is to be told, with what follows for documents. */
export interface ToldChange<Changed> {
  type: "tell";
  events: JournalEvent[];
  by: string;
  /** The version that is told of. Default: the current one. */
  planId?: PlanDocument["_id"];
  following: (entry: NewEntry) => Following[];
  /** See `Turn`. */
  isKept?: boolean;
  /** What is answered once it is told. */
  changed: Changed;
}

/** What is to be told, or an answer where nothing is. */
export type ChangeDecision<Answer, Changed> = ToldChange<Changed> | { type: "answer"; answer: Answer };

/** What a client asks of a request. */
export interface RequestChange<Answer, Changed> {
  tenant: string;
  requestId: RequestId;
  /** Such as "rerun": keys of different operations are apart. */
  operation: string;
  /** Default: what is asked for again is done again. */
  idempotency?: Idempotency | undefined;
  /** Decided again where another entry came between. */
  decide: (now: ChangedRequest) => ChangeDecision<Answer, Changed> | Promise<ChangeDecision<Answer, Changed>>;
}

/**
 * Changes a request by an entry of its journal, which follows from all entries before it: of changes at once,
 * one is first, and the others are decided behind it. The key under which it is asked for is part of the
 * entry. Undefined for an unknown request, and for another tenant's.
 * @throws {IdempotencyKeyReusedError} when the key made another change
 * @throws {RequestLagsError} when its document still lags after all tries
 */
export async function changeRequest<Answer, Changed>(
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
    if (lagsBehind(now)) {
      lags += 1;
      if (lags > MAX_LAGS) throw new RequestLagsError({ requestId });
      await settleOutbox.ofRequest(requestId);
      if (lags > 1) await context.sleep(LAG_MS);
      continue;
    }
    const decided = await decide(now);
    // What was told meanwhile may have been this.
    if (decided.type === "answer") return (await repeated()) ?? decided.answer;
    const { events, by, following, planId: _id = request.planId, isKept = false } = decided;
    const told = { by: { kind: "api" as const, id: by }, events, ...(key && { idempotency: key }) };
    const { entry } = nextEntry({ _id, requestId, tenant }, now.state, told);
    const { type } = await turns.append({ entry, following, isKept });
    if (type === "appended") return decided.changed;
  }
}

/**
 * True while the journal tells more than the documents say: of a version, or of a replan, that the request's
 * does not know, or of a plan whose own says that nothing has happened to it. The process that told it is
 * just doing what follows, which is kept until it is done, or has died. Pure.
 */
function lagsBehind({ request, plan, state }: ChangedRequest): boolean {
  const { plans } = state;
  const { version, status, planning } = request;
  const told = [...plans.values()].at(-1)?.version ?? 0;
  const isFirst = status === "PLANNING" && (planning.work ?? "plan") === "plan";
  if (told > version || (isFirst && told === version)) return true;
  const isPlanned = status === "PLANNING" || status === "NEEDS_INPUT";
  if (state.planning.replanAsked && !isPlanned) return true;
  const isUnstarted = (of: PlanDocument["status"]): boolean => UNSTARTED_PLAN_STATUSES.includes(of);
  return plan !== null && isUnstarted(plan.status) && !isUnstarted(statusOf(plan, plans));
}

/** Nothing is told of a plan that was accepted, until it is started. */
function statusOf({ _id }: PlanDocument, plans: FoldedRequest["plans"]): PlanDocument["status"] {
  return plans.get(_id)?.status ?? "READY";
}

/**
 * True when a caller has read another version than the current one.
 * @param seen - undefined: it does not say
 */
export function isOtherVersion(
  { version }: Pick<RequestDocument, "version">,
  seen: number | undefined,
): boolean {
  return seen !== undefined && seen !== version;
}
