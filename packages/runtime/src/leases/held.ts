/** A plan or a request under a claim of this process. */
export interface Held<Id extends string> {
  id: Id;
  /** Proves the claim (fencing token). */
  epoch: number;
}

/** The part of the store for leases (`LeaseStore`). */
export interface LeaseStore<Id extends string> {
  findHeld(owner: string): Promise<Held<Id>[]>;
  /** @returns the work that this call released */
  releaseUnheld(held: readonly Held<Id>[]): Promise<Held<Id>[]>;
  recordSurvived(held: readonly Held<Id>[]): Promise<void>;
}
