import { createHash } from "node:crypto";
import { createPlanId, createRequestId, type Plan, type PlanId, type RequestId } from "@planwright/plan";
import type { Collections } from "../database/collections.ts";
import { insertUnlessThere, type Retry, repeatUntilAnswered } from "../database/transient-errors.ts";
import type { StoreDependencies } from "../journal/dependencies.ts";
import { createBatches } from "../journal/group-commit.ts";
import { type SentWrite, sendTogether } from "../journal/pending-write.ts";
import { IdempotencyKeyReusedError } from "../records/errors.ts";
import {
  FIRST_EPOCH,
  type NewVersion,
  type NewWork,
  newPlan,
  newRequest,
  type PlanningOptions,
} from "../records/new-documents.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import type { RequestDocument } from "../records/request-document.ts";

/** The part of the store that accepts new work. */
export function createAcceptance({
  accept,
  acceptedHere,
  collections: { requests, plans },
  clock,
  planTimeoutMs,
  randomBytes,
}: Omit<StoreDependencies, "group" | "journal" | "transact" | "unitReads" | "sleep"> & { accept: Accept }) {
  const newIds = () => {
    const nowMs = clock.now();
    return {
      requestId: createRequestId(nowMs, randomBytes),
      planId: createPlanId(nowMs, randomBytes),
      now: new Date(nowMs),
    };
  };

  /**
   * Accepts a submission unless its key has been used, and returns the request of the key. Of simultaneous
   * calls one is accepted.
   * @throws {IdempotencyKeyReusedError} when that request was made from another submission
   */
  async function acceptOnce(
    { request, plan }: AcceptedEntry,
    { key, payloadHash }: Idempotency,
  ): Promise<RequestDocument> {
    const { tenant } = request;
    const idempotency = { key: createHash("sha256").update(key).digest("hex"), payloadHash };
    for (;;) {
      const keyed = { ...request, idempotency };
      if (await accept.storeKeyed({ request: keyed, plan })) return keyed;
      const found = await requests.findOne({ tenant, "idempotency.key": idempotency.key });
      // The key expired between the insert and the read: it is free again.
      if (!found) continue;
      if (found.createdAt.getTime() <= clock.now() - KEY_LIFE_MS) {
        await requests.updateOne(
          { _id: found._id, "idempotency.key": idempotency.key },
          { $set: { idempotency: null } },
        );
        continue;
      }
      if (found.idempotency?.payloadHash !== payloadHash)
        throw new IdempotencyKeyReusedError({ requestId: found._id });
      return found;
    }
  }

  /** The plan as the first claim of an executor leaves it. */
  function claimedBy(owner: string, plan: PlanDocument): PlanDocument {
    return {
      ...plan,
      status: "RUNNING",
      lease: { owner, epoch: FIRST_EPOCH },
      epoch: FIRST_EPOCH,
      takenFrom: null,
      claims: 1,
      dueAt: null,
      startedAt: plan.createdAt,
      deadlineAt: new Date(plan.createdAt.getTime() + planTimeoutMs),
    };
  }

  /**
   * Stores a plan that is to run at once as claimed by this process, if that has room; otherwise as it is.
   * @param store - returns the request that was stored, or the one that was stored earlier with the same key
   */
  async function storeHere(
    { request, plan }: AcceptedEntry & { plan: PlanDocument },
    reserve: ReservePlace | undefined,
    store: (accepted: AcceptedEntry) => Promise<RequestDocument>,
  ): Promise<{ request: RequestDocument; plan: PlanDocument }> {
    const place = plan.status === "QUEUED" ? reserve?.(plan) : undefined;
    if (!place) return { request: await store({ request, plan }), plan };
    const claimed = claimedBy(place.owner, plan);
    let isStored = false;
    try {
      const kept = await store({ request, plan: claimed });
      isStored = kept._id === request._id;
      return { request: kept, plan: claimed };
    } finally {
      if (isStored) {
        acceptedHere.set(claimed._id, { ...claimed });
        place.begin();
      } else place.leave();
    }
  }

  /**
   * The plan of the first version. It is stored here if the process that accepted it died before it did that.
   * Undefined when the request's key was removed meanwhile (`removeHalfAccepted`): the key is free.
   */
  async function firstPlan(request: RequestDocument, sent: PlanDocument): Promise<PlanDocument | undefined> {
    const { _id: requestId, planId, tenant } = request;
    const find = () => plans.findOne({ tenant, requestId, version: 1 });
    const stored = await find();
    if (stored) return stored;
    const { matchedCount } = await requests.updateOne(
      { _id: requestId, "idempotency.key": request.idempotency?.key },
      [{ $set: { updatedAt: "$$NOW" } }],
    );
    if (matchedCount === 0) return undefined;
    await insertUnlessThere(plans, { ...sent, _id: planId, requestId });
    return (await find()) ?? sent;
  }

  return {
    /**
     * Accepts a sentence: status PLANNING, ids fixed. Durable (majority, journalled) when it returns. A key
     * that was used for the same sentence returns the request that it made. @throws
     * {IdempotencyKeyReusedError}
     */
    async createRequest({
      idempotency,
      ...asked
    }: NewWork & PlanningOptions & { query: string; idempotency?: Idempotency | undefined }) {
      const request = newRequest({ ...newIds(), ...asked, source: "query" });
      if (idempotency) return acceptOnce({ request }, idempotency);
      await accept.store({ request });
      return request;
    },

    /**
     * Accepts a submitted plan, valid or not: a request READY (or EXECUTING with `autoExecute`), or FAILED
     * with a plan INVALID. `plan` is null when the submission could not be read as a plan. A key that was
     * used for the same plan returns the request that it made, with its first version.
     * @param submission.reserve - a place in an executor of this process: the plan is stored as claimed by it, and
     *   RUNNING. Default: it waits for an executor
     * @throws {IdempotencyKeyReusedError}
     */
    async submitPlan({
      idempotency,
      reserve,
      plan,
      toolPins,
      raw,
      diagnostics,
      ...asked
    }: NewWork &
      Omit<NewVersion<Plan | null>, "origin"> & {
        raw: string;
        query: string | null;
        idempotency?: Idempotency | undefined;
        reserve?: ReservePlace | undefined;
      }) {
      const { autoExecute } = asked;
      const ids = newIds();
      const accepted = newRequest({ ...ids, ...asked, source: "plan" });
      const isValid = plan !== null && diagnostics.every((diagnostic) => diagnostic.severity !== "error");
      const request: RequestDocument = {
        ...accepted,
        status: isValid ? (autoExecute ? "EXECUTING" : "READY") : "FAILED",
        error: isValid ? null : { code: "PLAN_INVALID", message: "The submitted plan is not valid" },
        diagnostics,
        dueAt: null,
        planning: { ...accepted.planning, finishedAt: ids.now },
      };
      const document = newPlan({
        request,
        plan,
        toolPins,
        raw,
        origin: { kind: "submitted", model: null },
        diagnostics,
        status: isValid ? (autoExecute ? "QUEUED" : "READY") : "INVALID",
        now: ids.now,
      });
      const store = async (accepted: AcceptedEntry): Promise<RequestDocument> => {
        if (idempotency) return acceptOnce(accepted, idempotency);
        await accept.store(accepted);
        return accepted.request;
      };
      for (;;) {
        const stored = await storeHere({ request, plan: document }, reserve, store);
        if (stored.request._id === request._id) return stored;
        const first = await firstPlan(stored.request, document);
        if (first) return { request: stored.request, plan: first };
      }
    },
  };
}

/** A place in an executor of this process, for a plan that is about to be stored. */
export interface Place {
  /** The owner of the plan's lease. */
  owner: string;
  /** The plan is stored: the executor works on it. */
  begin(): void;
  /** The plan is not stored, or that is not known. Its lease is released like every lease without work. */
  leave(): void;
}

/** Null when the executor has no room. */
type ReservePlace = (plan: Pick<PlanDocument, "_id" | "tenant" | "priority">) => Place | null;

/** A client's name for a submission: sending it again does nothing twice. Valid for 24 h, within one tenant. */
export interface Idempotency {
  key: string;
  /** SHA-256 of the submission: the key is refused for another one. */
  payloadHash: string;
}

/** How long an idempotency key is valid, in milliseconds. */
export const KEY_LIFE_MS = 86_400_000;

/** Accepts new work. */
export type AcceptanceStore = ReturnType<typeof createAcceptance>;

/** Accepted work: a request, and its plan if it came with one. */
export interface AcceptedEntry {
  request: RequestDocument;
  plan?: PlanDocument | undefined;
}

/**
 * Stores accepted work. It is durable (majority, journalled) when an insert resolves. A document that is
 * there already was stored by an insert whose answer was lost; it is kept as it is.
 */
export interface AcceptanceLog {
  /** Stores requests without a key, and after them their plans, in one command. */
  insert(accepted: readonly AcceptedEntry[]): Promise<void>;
  /** The same for a request with a key. False when the key belongs to another request: then nothing is stored. */
  insertKeyed(accepted: AcceptedEntry): Promise<boolean>;
}

/**
 * Accepted work in MongoDB.
 * @param collections - of a client with majority and journalled writes that does not repeat writes by itself
 */
export function createMongoAcceptanceLog(collections: Collections): AcceptanceLog {
  const { requests, plans } = collections;
  return {
    async insert(accepted) {
      const [only] = accepted;
      // A single insert costs MongoDB and the driver less than a bulk of one.
      if (only && !only.plan && accepted.length === 1) return insertUnlessThere(requests, only.request);
      await sendTogether(collections, insertsOf(accepted), { ordered: false });
    },
    async insertKeyed({ request, plan }) {
      if (await sendTogether(collections, insertsOf([{ request, plan }]), { ordered: true })) return true;
      // Another request has the key, or this one was stored before, perhaps without its plan.
      if (!(await requests.findOne({ _id: request._id }, { projection: { _id: 1 } }))) return false;
      if (plan) await insertUnlessThere(plans, plan);
      return true;
    },
  };
}

/** Requests first: a plan without its request would be executed although it was never accepted. */
function insertsOf(accepted: readonly AcceptedEntry[]): SentWrite[] {
  return [
    ...accepted.map(({ request }) => ({ collection: "requests" as const, insert: request })),
    ...accepted.flatMap(({ plan }) => (plan ? { collection: "plans" as const, insert: plan } : [])),
  ];
}

interface AcceptOptions extends Retry {
  log: AcceptanceLog;
  soon?: ((happen: () => void) => void) | undefined;
}

/**
 * Accepts requests and plans.
 *
 * 1. A request is stored before its plan: there is never a plan without its request.
 * 2. Work that arrives while bulks are in flight goes out together. Work that cannot be stored at all fails
 *    alone.
 * 3. When the process and MongoDB die between the two inserts, a request without its plan remains, and its
 *    client got no answer. A repeat with the same key stores the plan. Without a key the request is removed
 *    (`removeHalfAccepted`).
 */
type Accept = ReturnType<typeof createAccept>;

/** Acceptance over a log. */
export function createAccept(options: AcceptOptions) {
  const { log } = options;
  const batches = createBatches({
    async send(accepted: readonly AcceptedEntry[]) {
      await untilAnswered(() => log.insert(accepted));
      return () => undefined;
    },
    idsOf: ({ request, plan }) => [request._id, ...(plan ? [plan._id] : [])],
    soon: options.soon,
  });

  function untilAnswered<T>(attempt: () => Promise<T>): Promise<T> {
    return repeatUntilAnswered("accept", attempt, options);
  }

  return {
    /** Durable when it resolves. @throws {StoreUnavailableError | WriteNotPossibleError} */
    store: (accepted: AcceptedEntry): Promise<void> => batches.add(accepted),
    /** The same, or false when the key belongs to another request. @throws {StoreUnavailableError} */
    storeKeyed: (accepted: AcceptedEntry) => untilAnswered(() => log.insertKeyed(accepted)),
    idle: () => batches.idle(),
  };
}

/**
 * Age at which a request without its plan is removed, in milliseconds. By then the process that was storing
 * the plan has stopped trying, or has stored it.
 */
const HALF_AFTER_MS = 60_000;
/** How far back the first search of a process goes, in milliseconds. */
const LOOK_BACK_MS = 600_000;

/**
 * Removes requests that came with a plan which is not stored: their acceptance was interrupted, and no client
 * got an answer. A client may repeat its key meanwhile. If it completes its request first, the request is
 * kept. Otherwise it finds the key free, and its submission is accepted as a new request.
 */
export function createRemoveHalfAccepted({
  requests,
  plans,
}: Pick<Collections, "requests" | "plans">): (nowMs: number) => Promise<number> {
  let checkedUntilMs: number | undefined;

  /** Removes the key, so that no client completes the request. False when one is completing it. */
  async function removeKey(_id: RequestId, untilMs: number): Promise<boolean> {
    const { matchedCount } = await requests.updateOne(
      { _id, version: 1, updatedAt: { $lt: new Date(untilMs) } },
      { $set: { idempotency: null } },
    );
    return matchedCount > 0;
  }

  return async (nowMs) => {
    const untilMs = nowMs - HALF_AFTER_MS;
    const fromMs = checkedUntilMs ?? untilMs - LOOK_BACK_MS;
    const found = await requests
      .find(
        { _id: { $gte: idFrom(fromMs), $lt: idFrom(untilMs) }, source: "plan", version: 1 },
        { projection: { planId: 1 } },
      )
      .toArray();
    const planIds = found.map(({ planId }): PlanId => planId);
    const stored = await plans.find({ _id: { $in: planIds } }, { projection: { _id: 1 } }).toArray();
    const known = new Set(stored.map(({ _id }) => _id));
    const half = found.flatMap(({ _id, planId }) => (known.has(planId) ? [] : [_id]));
    const removable: RequestId[] = [];
    for (const id of half) if (await removeKey(id, untilMs)) removable.push(id);
    if (removable.length > 0) await requests.deleteMany({ _id: { $in: removable } });
    // Requests that are being completed are checked again: their process may die before it stores the plan.
    if (removable.length === half.length) checkedUntilMs = untilMs;
    return removable.length;
  };
}

/** An id begins with the second in which it was made. */
function idFrom(ms: number): RequestId {
  return `req_${Math.floor(ms / 1_000)}` as RequestId;
}
