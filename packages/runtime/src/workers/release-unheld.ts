/** The leases that this process holds, and how they are released. */
export interface HeldLeases<Lease> {
  /** The leases that this process holds, by the database. */
  find: () => Promise<readonly Lease[]>;
  /** True for work that is in progress here, or is being claimed. */
  isHeld: (lease: Lease) => boolean;
  release: (leases: readonly Lease[]) => Promise<unknown>;
}

/**
 * Releases the leases under which this process does no work, because the answer to a claim was lost or the
 * work failed. No other worker would take them over while this process lives.
 */
export async function releaseUnheld<Lease>({
  find,
  isHeld,
  release,
}: HeldLeases<Lease>): Promise<{ found: readonly Lease[]; released: readonly Lease[] }> {
  const found = await find();
  const released = found.filter((lease) => !isHeld(lease));
  if (released.length > 0) await release(released);
  return { found, released };
}
