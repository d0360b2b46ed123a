/**
 * The clock of MongoDB, carried on by this process's monotonic clock. Whatever is compared with times in the database
 * (due times, deadlines, retries) is read from here, so that a jump of a local wall clock changes nothing.
 */
export interface ServerClock {
  /** Unix milliseconds. Runs behind the server by at most half a round trip. */
  now(): number;
  /** Takes a reading of the server's clock. @param sentAt - `performance.now()` before the question was sent */
  observe(serverTime: Date, sentAt: number): void;
}

/** Starts from the local clock until the first reading. Keeps the reading with the shortest round trip of the last minute. */
export function createServerClock(monotonic: () => number = () => performance.now()): ServerClock {
  let offset = Date.now() - monotonic();
  let uncertainty = Number.POSITIVE_INFINITY;
  let observedAt = 0;
  return {
    now: () => Math.round(monotonic() + offset),
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
