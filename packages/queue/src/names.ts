/** The queues: `planning` carries request ids, `execution` carries plan ids. A job is a hint, never the truth. */
export type QueueName = "planning" | "execution";

/** Prefix of all keys in Redis where none is configured. */
export const DEFAULT_PREFIX = "planwright";
