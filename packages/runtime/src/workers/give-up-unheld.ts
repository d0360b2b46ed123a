/** The leases that this process holds, and how they are given up. */
export interface HeldLeases<Lease> {
  /** The leases that this process holds, by the database. */
  find: () => Promise<readonly Lease[]>;
  /** True for work that is in progress here, or is being claimed. */
  isHeld: (lease: Lease) => boolean;
  giveUp: (leases: readonly Lease[]) => Promise<unknown>;
}

/**
 * Gives up the leases under which this process does no work, because the answer to a claim was lost or the
 * work failed. No other worker would take them over while this process lives.
 */
export async function giveUpUnheld<Lease>({
  find,
  isHeld,
  giveUp,
}: HeldLeases<Lease>): Promise<{ found: readonly Lease[]; givenUp: readonly Lease[] }> {
  const found = await find();
  const givenUp = found.filter((lease) => !isHeld(lease));
  if (givenUp.length > 0) await giveUp(givenUp);
  return { found, givenUp };
}
