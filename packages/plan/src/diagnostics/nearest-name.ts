import { distance } from "fastest-levenshtein";

const MAX_CANDIDATES = 2_000;
const MAX_LENGTH = 128;

/**
 * The candidate nearest to a name: at most a third of its letters (at least 2) differ; case does not matter.
 * Checks the first 2,000 candidates; undefined when none is similar.
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

/**
 * The candidate nearest to a field name: the only one that differs by additional or missing words at one end,
 * such as `ticket_id` for `id` and `email` for `emailAddress`; otherwise the nearest by letters.
 */
export function nearestField(name: string, candidates: Iterable<string>): string | undefined {
  if (name.length > MAX_LENGTH) return undefined;
  const listed = [...candidates].slice(0, MAX_CANDIDATES);
  const wanted = wordsOf(name);
  const alike = listed.filter((candidate) => endsAlike(wanted, wordsOf(candidate)));
  return alike.length === 1 ? alike[0] : nearestName(name, listed);
}

function endsAlike(one: readonly string[], other: readonly string[]): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  if (short.length === 0) return false;
  const [own, first, last] = [short, long.slice(0, short.length), long.slice(-short.length)].map((words) =>
    words.join(" "),
  );
  return own === first || own === last;
}

/** Words of a name in any usual spelling, in lower case. */
export function wordsOf(name: string): string[] {
  const spaced = name.slice(0, MAX_LENGTH).replace(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})/gu, " ");
  return spaced.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
}
