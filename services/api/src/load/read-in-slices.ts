import type { AnswerBytes } from "./answer-bytes.ts";
import { SLICE_BYTES } from "./pace.ts";

/** Parts in one read: a list of ids has its price too. */
const MAX_PARTS = 500;

/**
 * Reads what has a known size: counted before anything is read, and in slices where the answer is a heavy one.
 * @throws {AnswerTooLargeError | OverloadedError}
 */
export async function readInSlices<Wanted extends { sizeBytes: number }, Found>(
  bytes: AnswerBytes,
  wanted: readonly Wanted[],
  read: (slice: readonly Wanted[]) => Promise<Found[]>,
): Promise<Found[]> {
  await bytes.reading(wanted.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0));
  const { pace } = bytes.limits;
  const found: Found[] = [];
  for (const slice of slicesOf(wanted)) {
    found.push(...(bytes.isHeavy() ? await pace(() => read(slice)) : await read(slice)));
  }
  return found;
}

/** In their order; what is larger than a slice is one by itself. Pure. */
function slicesOf<Wanted extends { sizeBytes: number }>(wanted: readonly Wanted[]): Wanted[][] {
  const slices: Wanted[][] = [];
  let last: Wanted[] = [];
  let room = 0;
  for (const one of wanted) {
    if (one.sizeBytes > room || last.length === MAX_PARTS) {
      last = [];
      slices.push(last);
      room = SLICE_BYTES;
    }
    last.push(one);
    room -= one.sizeBytes;
  }
  return slices;
}
