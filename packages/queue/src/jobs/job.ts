import type { Priority } from "@planwright/plan";

/** The queues: `planning` carries request ids, `execution` carries plan ids. */
export type QueueName = "planning" | "execution";

/** A hint that this work may be done: a request for planners, or a plan for executors. */
export interface Hint {
  _id: string;
  /** The tenant whose turn it takes. */
  tenant: string;
  /** Its place among the work of its tenant. Default: normal. */
  priority?: Priority | undefined;
}
