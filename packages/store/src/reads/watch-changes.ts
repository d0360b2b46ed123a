import { setTimeout as delay } from "node:timers/promises";
import {
  ACTIVE_REQUEST_STATUSES,
  groupBy,
  type PlanId,
  type RequestId,
  WAITING_PLAN_STATUSES,
} from "@planwright/plan";
import type { ChangeStream, ChangeStreamDocument, Document } from "mongodb";
import type { Collections } from "../database/collections.ts";
import { IN_ONE_BATCH } from "../database/read-lists.ts";
import type { UnitReads } from "../journal/unit-reads.ts";
import { readPlanHeads } from "../plans/plan-needs.ts";
import type { RequestWithPlan, VersionHead } from "../records/document-heads.ts";
import type { RequestDocument } from "../records/request-document.ts";

/** Listener of a watch. */
export interface ChangeListener {
  /** A request (`req_…`) or a step of it, or a plan (`plan_…`) changed durably, in the order of changes. */
  onChange(id: string): void;
  /** Changes may have been missed: everything that was read before has to be read again. */
  onGap(): void;
  /** The watch was interrupted and resumes by itself. */
  onError(error: unknown): void;
}

/** A running watch. */
export interface ChangeWatch {
  /** Resolves once changes are watched: later changes are not missed. */
  ready: Promise<void>;
  close(): Promise<void>;
}

/** Changes of requests and plans, and entries of journals. */
const OF_REQUESTS: Document = { "ns.coll": { $in: ["requests", "plans", "journal"] } };

const changed = (field: string): string => `updateDescription.updatedFields.${field}`;

/**
 * Those of these changes after which a request may be idle, a few of all changes of a plan: it has a status that no
 * worker changes, or an answer in words, or another version of its plan, or its plan waits. MongoDB reports a write that changes most of a document
 * as a replacement.
 */
export const TO_REST: Document = {
  $or: [
    {
      "ns.coll": "requests",
      $or: [
        { [changed("status")]: { $exists: true, $nin: ACTIVE_REQUEST_STATUSES } },
        // From then on the changes of another plan count.
        { [changed("planId")]: { $exists: true } },
        { [changed("answer")]: { $exists: true } },
        { [changed("answerError")]: { $exists: true } },
      ],
    },
    { "ns.coll": "plans", [changed("status")]: { $in: WAITING_PLAN_STATUSES } },
    { "ns.coll": { $in: ["requests", "plans"] }, operationType: "replace" },
  ],
};
/** Wait before a broken watch is opened again, in milliseconds. */
const REOPEN_AFTER_MS = 500;
/** How long the server waits for changes before it answers with none, in milliseconds. */
const AWAIT_MS = 1_000;

/**
 * Reports every change of requests and plans and every entry of a journal, by any process, over one change
 * stream. After an error the driver resumes the stream. When that is not possible it is opened again and
 * {@link ChangeListener.onGap} is called.
 * @param wanted - only these changes. Default: all
 */
export function watchChanges(
  { client, requests }: Collections,
  listener: ChangeListener,
  wanted: Document = OF_REQUESTS,
): ChangeWatch {
  const db = client.db(requests.dbName);
  let stream: ChangeStream<Document, Document> | undefined;
  const closing = new AbortController();
  let becomeReady = (): void => undefined;
  const ready = new Promise<void>((resolve) => {
    becomeReady = resolve;
  });

  async function follow(): Promise<void> {
    for (let isFirst = true; !closing.signal.aborted; isFirst = false) {
      try {
        // The stream starts at a time in the past, so no later change is missed. A wait for its first answer
        // instead would take each first reader AWAIT_MS.
        const { operationTime } = await db.command({ ping: 1 });
        becomeReady();
        if (!isFirst) listener.onGap();
        stream = db.watch([{ $match: wanted }, { $project: { documentKey: 1 } }], {
          startAtOperationTime: operationTime,
          maxAwaitTimeMS: AWAIT_MS,
          readConcern: { level: "majority" },
        });
        if (closing.signal.aborted) return;
        for await (const change of stream) report(change);
      } catch (error) {
        if (!closing.signal.aborted) listener.onError(error);
      } finally {
        await stream?.close().catch(() => undefined); // it is broken already: there is nothing to close
      }
      // Closing ends it, and then there is nothing to do.
      await delay(REOPEN_AFTER_MS, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  }

  function report(change: Document | ChangeStreamDocument): void {
    const id: unknown = "documentKey" in change ? change["documentKey"]?._id : undefined;
    if (typeof id !== "string") return;
    // An entry's id begins with its request's.
    const [owner = id] = id.split("/", 1);
    listener.onChange(owner);
  }

  const following = follow();
  return {
    ready,
    async close() {
      closing.abort();
      becomeReady();
      await stream?.close();
      await following;
    },
  };
}

/** A request that has changed, at one moment. */
export interface ChangedRequest extends RequestWithPlan {
  /** All versions of its plan, if they were asked for. */
  versions: VersionHead[];
}

/** The parts of {@link ChangedRequest} to read. */
export interface ChangedWanted {
  /** Requests of other tenants are left out. */
  tenants: readonly string[];
  versions: boolean;
}

/**
 * Requests of many tenants by their ids or the ids of their plans: at most four reads, all by index, for any
 * number of ids, and two for each tenant whose plans have decisions of operators.
 * @param ids - as a watch reports them; missing ones are left out
 */
export async function readChanged(
  { requests, plans }: Collections,
  unitReads: UnitReads,
  ids: readonly string[],
  { tenants, versions }: ChangedWanted,
): Promise<ChangedRequest[]> {
  const isOfPlan = (id: string): id is PlanId => id.startsWith("plan_");
  const ofTenants = { tenant: { $in: [...tenants] } };
  const planIds = ids.filter(isOfPlan);
  const named =
    planIds.length === 0
      ? []
      : await plans
          .find({ _id: { $in: planIds }, ...ofTenants }, { projection: { requestId: 1 }, ...IN_ONE_BATCH })
          .toArray();
  // An id that is not of a plan is of a request.
  const own = ids.filter((id) => !isOfPlan(id)) as RequestId[];
  const requestIds = [...new Set([...own, ...named.map(({ requestId }) => requestId)])];
  if (requestIds.length === 0) return [];
  const found = await requests
    .find({ _id: { $in: requestIds }, ...ofTenants }, { projection: { draft: 0 }, ...IN_ONE_BATCH })
    .toArray();
  if (found.length === 0) return [];
  // After the requests: a request that has ended has a plan that has ended.
  const [heads, facts] = await Promise.all([
    readPlanHeads({ plans }, unitReads, { _id: { $in: found.map(({ planId }) => planId) } }),
    versions ? readVersions(found) : [],
  ]);
  const headOf = new Map(heads.map((head) => [head._id, head]));
  const factsOf = groupBy(facts, ({ requestId }) => requestId);
  return found.map((request) => ({
    request,
    plan: headOf.get(request.planId) ?? null,
    versions: factsOf.get(request._id) ?? [],
  }));

  function readVersions(of: readonly RequestDocument[]): Promise<VersionHead[]> {
    return plans
      .aggregate<VersionHead>(
        [
          { $match: { ...ofTenants, requestId: { $in: of.map(({ _id }) => _id) } } },
          {
            $project: {
              _id: 0,
              requestId: 1,
              tools: { $setUnion: [listAt("plan.steps.tool"), listAt("plan.steps.forEach.do.tool")] },
              errorCode: { $ifNull: ["$error.code", null] },
              needs: { $concatArrays: [listAt("needs"), { $cond: [WAITS_FOR_SIGN_IN, ["sign-in"], []] }] },
            },
          },
        ],
        IN_ONE_BATCH,
      )
      .toArray();
  }
}

/** Expression: the plan waits for a sign-in at a tool server. */
const WAITS_FOR_SIGN_IN = { $and: [{ $eq: ["$status", "WAITING"] }, { $eq: ["$waitReason", "sign-in"] }] };

function listAt(path: string): object {
  return { $ifNull: [`$${path}`, []] };
}
