import type { Collections } from "../database/collections.ts";
import { insertUnlessThere } from "../database/transient-errors.ts";
import { type SentWrite, sendTogether } from "../journal/pending-write.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import type { RequestDocument } from "../records/request-document.ts";

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
  /**
   * The same for a request with a key. False when the key belongs to another request: then nothing is stored.
   */
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
