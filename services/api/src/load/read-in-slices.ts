import { type AnswerBytes, SLICE_BYTES } from "./answer-bytes.ts";

/** Most parts in one read, which limits the list of ids. */
const MAX_PARTS = 500;

/**
 * Reads parts of known sizes. They are counted before the read, and read in slices for a heavy answer.
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

/** Divides parts into slices, in order; a part that is larger than a slice gets its own slice. Pure. */
function slicesOf<Wanted extends { sizeBytes: number }>(wanted: readonly Wanted[]): Wanted[][] {
  const slices: Wanted[][] = [];
  let last: Wanted[] = [];
  let freeBytes = 0;
  for (const one of wanted) {
    if (one.sizeBytes > freeBytes || last.length === MAX_PARTS) {
      last = [];
      slices.push(last);
      freeBytes = SLICE_BYTES;
    }
    last.push(one);
    freeBytes -= one.sizeBytes;
  }
  return slices;
}
