/** What a worker process does. */
export type WorkerKind = "planner" | "executor";

/** A process that takes work, and its heartbeat. */
export interface WorkerDocument {
  /** Names the process, also in the leases that it takes. */
  _id: string;
  kind: WorkerKind;
  /** Whether a planner has a language model; null where it does not say. */
  hasModel: boolean | null;
  /**
   * The address at which it listens, which no other process has while it lives; null where that is not known.
   */
  place: string | null;
  /** Silence after which it may be declared dead, in milliseconds. */
  deadAfterMs: number;
  /** False once it is stopping. */
  takesWork: boolean;
  startedAt: Date;
  /** Its last heartbeat, by the clock of MongoDB. */
  seenAt: Date;
  /** When it was declared dead; null while it lives. A worker does not come back to life. */
  deadAt: Date | null;
  /** Plans or requests that it still held when it died, as far as they were taken from it. Absent: none. */
  leasesLost?: number;
}
