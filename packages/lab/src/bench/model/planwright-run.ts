import { REQUEST_LIFECYCLE, statusesWhere } from "@planwright/plan";
import { createQueues } from "@planwright/queue";
import { createStore, type RequestDocument } from "@planwright/store";
import { type ChangeStream, MongoClient } from "mongodb";

/** This system, with its planner and executor as separate processes. */
export interface PlanwrightRun {
  /** Runs from the sentence to the end of the request and its answer. The figures contain no polling. */
  run(query: string, options: { wantsAnswer: boolean }): Promise<RequestDocument>;
  close(): Promise<void>;
}

const TENANT = "bench";
/** Statuses in which a request no longer changes by itself. */
const SETTLED_STATUSES: ReadonlySet<string> = new Set(
  statusesWhere(REQUEST_LIFECYCLE, ({ hasEnded, needs }) => hasEnded || needs === "answer"),
);

/**
 * Connects as the API does: requests through the store, hints through the queue, ends from a change stream.
 */
export async function openPlanwright(urls: { mongodbUrl: string; redisUrl: string }): Promise<PlanwrightRun> {
  const store = await createStore({ url: urls.mongodbUrl });
  const queues = createQueues({ redisUrl: urls.redisUrl });
  const client = await MongoClient.connect(urls.mongodbUrl);
  const waiting = new Map<string, (request: RequestDocument) => void>();
  const changes: ChangeStream<RequestDocument> = client
    .db()
    .collection<RequestDocument>("requests")
    .watch([], { fullDocument: "updateLookup" });
  changes.on("change", (change) => {
    const request = "fullDocument" in change ? change.fullDocument : undefined;
    if (!request || !isSettled(request)) return;
    waiting.get(request._id)?.(request);
    waiting.delete(request._id);
  });
  return {
    async run(query, { wantsAnswer }) {
      const request = await store.createRequest({ tenant: TENANT, query, autoExecute: true, wantsAnswer });
      const end = new Promise<RequestDocument>((resolve) => waiting.set(request._id, resolve));
      queues.offerPlanning(request);
      return end;
    },
    async close() {
      await changes.close();
      await client.close();
      await queues.close();
      await store.close();
    },
  };
}

/** The request has ended or needs an answer and, if it wants an answer, has it or an error in its place. */
function isSettled({ status, wantsAnswer, answer, answerError }: RequestDocument): boolean {
  const isAnswered = !wantsAnswer || (answer ?? answerError ?? null) !== null;
  return SETTLED_STATUSES.has(status) && (status !== "COMPLETED" || isAnswered);
}
