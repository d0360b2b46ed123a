/** The kind of a worker process. */
export type WorkerKind = "planner" | "executor";

/** A worker process and its heartbeat. */
export interface WorkerDocument {
  /** Id of the process, also in its leases. */
  _id: string;
  kind: WorkerKind;
  /** Whether a planner has a language model; null when unknown. */
  hasModel: boolean | null;
  /** The address at which it listens, which no other process has at the same time; null when unknown. */
  addressKey: string | null;
  /** Time without a heartbeat after which it may be declared dead, in milliseconds. */
  deadAfterMs: number;
  /** False once it is stopping. */
  takesWork: boolean;
  startedAt: Date;
  /** Time of the last heartbeat, by the clock of MongoDB. */
  seenAt: Date;
  /** Time when it was declared dead; null while it lives. A dead worker stays dead. */
  deadAt: Date | null;
  /** Number of plans or requests that were taken from it after its death. Absent: none. */
  leasesLost?: number;
}
