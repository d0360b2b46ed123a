/** A claim whose last write may be under way. */
interface EndingClaim {
  isEnding: boolean;
}

/**
 * Makes a write the last one of its claim. While it is under way, and once it was done, a renewal that finds the lease gone tells
 * nothing; one that failed or came too late has ended nothing.
 */
export function ending<Claim extends EndingClaim, More extends unknown[], Result>(
  write: (claim: Claim, ...more: More) => Promise<Result>,
): (claim: Claim, ...more: More) => Promise<Result> {
  return async (claim, ...more) => {
    claim.isEnding = true;
    try {
      return await write(claim, ...more);
    } catch (error) {
      claim.isEnding = false;
      throw error;
    }
  };
}
