/** The worker that may write, and its fencing token. */
export interface Lease {
  /** Id of the worker. */
  owner: string;
  /** Fencing token: raised by one with each claim. */
  epoch: number;
}

/** Fields of work that one worker at a time owns: a request for a planner, or a plan for an executor. */
export interface Leased {
  lease: Lease | null;
  /** Highest epoch so far; kept when the lease is released. */
  epoch: number;
  /** Time from which a worker may claim it; null while a worker holds it, or when there is nothing to do. */
  dueAt: Date | null;
  /**
   * Claims since the last progress, without claims whose owners survived the loss of their lease. Work that
   * kills its workers is ended.
   */
  claims: number;
  /** Highest epoch whose owner reported that it survived the loss of its lease. Absent: none. */
  survivedEpoch?: number;
  /**
   * The previous owner, if it had not released the lease at the last claim; null or absent when the work was
   * free.
   */
  takenFrom?: string | null;
}
