/**
 * The clock of MongoDB, continued by this process's monotonic clock. Times that are compared with times in
 * the database (due times, deadlines, retries) are read from here, so that a jump of the local wall clock
 * changes nothing.
 */
export type ServerClock = ReturnType<typeof createServerClock>;

/**
 * Uses the local clock until the first reading. Keeps the reading with the shortest round trip of the last
 * minute.
 * @param monotonic - default `performance.now`
 * @param wall - Unix milliseconds by the local clock; default `Date.now`
 */
export function createServerClock(
  monotonic: () => number = () => performance.now(),
  wall: () => number = () => Date.now(),
) {
  let offset = wall() - monotonic();
  let uncertainty = Number.POSITIVE_INFINITY;
  let observedAt = 0;
  return {
    /** Unix milliseconds. Late by at most half a round trip. */
    now: () => Math.round(monotonic() + offset),
    /** Milliseconds of this process's monotonic clock. */
    monotonic,
    /** Takes a reading of the server's clock. @param sentAt - `monotonic()` before the query was sent */
    observe(serverTime: Date, sentAt: number) {
      const receivedAt = monotonic();
      const roundTrip = receivedAt - sentAt;
      if (roundTrip > uncertainty && receivedAt - observedAt < 60_000) return;
      offset = serverTime.getTime() - (sentAt + receivedAt) / 2;
      uncertainty = roundTrip;
      observedAt = receivedAt;
    },
  };
}
