/** The worker that may write, and the number that proves it (fencing token). */
export interface Lease {
  /** Names the worker. */
  owner: string;
  /** Raised by one with each claim. */
  epoch: number;
}

/**
 * Work that one worker at a time owns: a request that a planner works on, or a plan that an executor runs.
 */
export interface Leased {
  lease: Lease | null;
  /** Highest epoch ever given; survives a release of the lease. */
  epoch: number;
  /** From when on a worker may claim it; null while one holds it, or when there is nothing to do. */
  dueAt: Date | null;
  /**
   * Claims since the last progress, without those whose owners survived the loss of their lease: work that
   * kills its worker is ended.
   */
  claims: number;
  /** Highest epoch whose owner has said that it survived the loss of its lease. Absent: none. */
  survivedEpoch?: number;
  /** The owner at the last claim that had not released its lease; null, or absent, when it was free. */
  takenFrom?: string | null;
}
