/** How long a process may be silent before others declare it dead, given how it fared. */
export interface AllowedSilence {
  /** In milliseconds. */
  ms(): number;
  /** Reports that the process was declared dead although it lives. */
  declaredDead(): void;
  /** Reports a heartbeat that was answered, by the time when it was sent, and the time since the one before. */
  answered(sentAtMs: number, gapMs: number): void;
}

/** The longest silence that is allowed, as a multiple of the least. */
const MAX_MULTIPLE = 8;
/** After this many allowed silences without a long gap, half of the time is allowed again. */
const CALM_SILENCES = 6;
/** A gap between heartbeats of more than this share of the least silence is long. */
const LONG_GAP_SHARE = 0.5;

/**
 * A process that was declared dead although it lives is on an overloaded machine, or its database is. Its work
 * was taken over and has to be repeated, which is more load, so that more processes are declared dead: without
 * an end, since each loses its work before it can finish any. So it may be silent for twice as long under its
 * next name, and again half as long after a calm time. An adaptive failure detector, as in Chen, Toueg and
 * Aguilera, "On the quality of service of failure detectors" (2002).
 * @param leastMs - the silence that is allowed at the start, in milliseconds
 */
export function createAllowedSilence(leastMs: number): AllowedSilence {
  let ms = leastMs;
  let calmSince = Number.NEGATIVE_INFINITY;
  return {
    ms: () => ms,
    declaredDead() {
      ms = Math.min(MAX_MULTIPLE * leastMs, 2 * ms);
    },
    answered(sentAtMs, gapMs) {
      if (gapMs > leastMs * LONG_GAP_SHARE) calmSince = sentAtMs;
      if (ms === leastMs || sentAtMs - calmSince < CALM_SILENCES * ms) return;
      ms /= 2;
      calmSince = sentAtMs;
    },
  };
}
