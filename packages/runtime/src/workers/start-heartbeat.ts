/** How a process says that it is alive. */
export interface HeartbeatOptions {
  /** Says it; a call never begins while another one is under way. */
  beat: () => Promise<void>;
  /** Says that the process has stopped. */
  end: () => Promise<void>;
  /** Told of a beat that failed; the next one comes all the same. */
  onError: (error: unknown) => void;
  /** Milliseconds between two beats; default 1,000. */
  everyMs?: number;
}

/** A heartbeat that has begun. */
export interface Heartbeat {
  /** Ends it and says so; safe to call twice. @throws what `end` throws */
  stop(): Promise<void>;
}

/** Beats once before it resolves, then about once a second until it is stopped. @throws what the first beat throws */
export async function startHeartbeat({
  beat,
  end,
  onError,
  everyMs = 1_000,
}: HeartbeatOptions): Promise<Heartbeat> {
  await beat();
  let underWay: Promise<void> | undefined;
  const timer = setInterval(() => {
    underWay ??= beat()
      .catch(onError)
      .finally(() => {
        underWay = undefined;
      });
  }, everyMs).unref();
  let stopped: Promise<void> | undefined;
  const stop = async () => {
    clearInterval(timer);
    // A beat that comes after the end would bring the process back to life.
    await underWay;
    await end();
  };
  return { stop: () => (stopped ??= stop()) };
}
