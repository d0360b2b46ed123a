import { distance } from "fastest-levenshtein";

/** The choice nearest to what was written, when it is near enough to be meant: at most a third of the letters differ. */
export function nearest(written: string, choices: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  const lower = written.toLowerCase();
  for (const choice of choices) {
    const candidate = choice.toLowerCase();
    if (Math.abs(candidate.length - lower.length) >= bestDistance) continue;
    const current = distance(lower, candidate);
    if (current < bestDistance) {
      best = choice;
      bestDistance = current;
    }
  }
  const allowed = Math.max(2, Math.floor(written.length / 3));
  return bestDistance <= allowed ? best : undefined;
}
