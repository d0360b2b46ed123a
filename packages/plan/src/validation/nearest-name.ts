import { distance } from "fastest-levenshtein";

const MAX_CANDIDATES = 2_000;
const MAX_LENGTH = 128;

/**
 * The candidate that a name was probably meant to be: at most a third of its letters (at least 2) differ, case aside.
 * Looks at the first 2,000 candidates; undefined when none is near.
 */
export function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  if (name.length > MAX_LENGTH) return undefined;
  const wanted = name.toLowerCase();
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(name.length / 3)) + 1;
  let seen = 0;
  for (const candidate of candidates) {
    if (++seen > MAX_CANDIDATES) break;
    if (Math.abs(candidate.length - name.length) >= bestDistance) continue;
    const found = distance(wanted, candidate.toLowerCase());
    if (found < bestDistance && found < Math.max(name.length, candidate.length)) {
      best = candidate;
      bestDistance = found;
    }
  }
  return best;
}
