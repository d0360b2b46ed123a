/** A clock for plans and faults that stops while the machine is behind. */
export interface Pace {
  /** Resolves when the clock has reached this time, in milliseconds since its start. */
  until: (atMs: number) => Promise<void>;
  /** For how long the clock has been stopped, in milliseconds. */
  heldMs(): number;
  /** Ends the clock; nothing resolves any more. */
  stop(): void;
}

const TICK_MS = 20;

/**
 * Starts the clock. Plans have deadlines in real time, so a machine that is slower than the pace would be asked
 * whether it is fast, and not whether it loses or repeats work.
 * @param isBehind - true while no plan and no fault may be added
 */
export function startPace(isBehind: () => boolean): Pace {
  let now = 0;
  let held = 0;
  let tickedAt = performance.now();
  let waiting: { atMs: number; resolve: () => void }[] = [];
  const timer = setInterval(() => {
    const passed = performance.now() - tickedAt;
    tickedAt += passed;
    if (isBehind()) {
      held += passed;
      return;
    }
    now += passed;
    const reached = waiting.filter(({ atMs }) => atMs <= now);
    waiting = waiting.filter(({ atMs }) => atMs > now);
    for (const { resolve } of reached) resolve();
  }, TICK_MS);
  return {
    until: (atMs) => new Promise((resolve) => waiting.push({ atMs, resolve })),
    heldMs: () => Math.round(held),
    stop: () => clearInterval(timer),
  };
}
