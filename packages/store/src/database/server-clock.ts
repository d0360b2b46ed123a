/**
 * The clock of MongoDB, carried on by this process's monotonic clock. Whatever is compared with times in the
 * database (due times, deadlines, retries) is read from here, so that a jump of a local wall clock changes
 * nothing.
 */
export interface ServerClock {
  /** Unix milliseconds. Runs behind the server by at most half a round trip. */
  now(): number;
  /** Milliseconds of this process's monotonic clock, that leases are counted by. */
  monotonic(): number;
  /** Takes a reading of the server's clock. @param sentAt - `monotonic()` before the question was sent */
  observe(serverTime: Date, sentAt: number): void;
}

/**
 * Starts from the local clock until the first reading. Keeps the reading with the shortest round trip of the
 * last minute.
 * @param monotonic - default `performance.now`
 * @param wall - Unix milliseconds by the local clock; default `Date.now`
 */
export function createServerClock(
  monotonic: () => number = () => performance.now(),
  wall: () => number = () => Date.now(),
): ServerClock {
  let offset = wall() - monotonic();
  let uncertainty = Number.POSITIVE_INFINITY;
  let observedAt = 0;
  return {
    now: () => Math.round(monotonic() + offset),
    monotonic,
    observe(serverTime, sentAt) {
      const receivedAt = monotonic();
      const roundTrip = receivedAt - sentAt;
      if (roundTrip > uncertainty && receivedAt - observedAt < 60_000) return;
      offset = serverTime.getTime() - (sentAt + receivedAt) / 2;
      uncertainty = roundTrip;
      observedAt = receivedAt;
    },
  };
}
