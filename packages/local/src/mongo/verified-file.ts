import { createHash } from "node:crypto";
import { chmodSync, createReadStream, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { ChecksumError } from "../errors.ts";

const MarkSchema = z.object({ path: z.string(), size: z.number(), mtimeMs: z.number(), sha256: z.string() });

/**
 * Verifies the checksum of a shipped binary and makes it executable. Hashing 200 MB takes half a second, so a
 * mark in `cacheDir` stores size and time of the file that was checked; a changed file is checked again.
 * @param cacheDir - folder of the mark, such as node_modules/.cache/planwright
 * @throws {ChecksumError} for any other content; the file is then left as it is
 */
export async function verifyBinary(path: string, sha256: string, cacheDir: string): Promise<void> {
  const mark = join(cacheDir, `${sha256.slice(0, 16)}.json`);
  const { size, mtimeMs, mode } = statSync(path);
  const known = readMark(mark);
  const isKnown =
    known?.path === path && known.size === size && known.mtimeMs === mtimeMs && known.sha256 === sha256;
  if (!isKnown) {
    const actual = await hashOf(path);
    if (actual !== sha256) throw new ChecksumError({ path, expected: sha256, actual });
  }
  if ((mode & 0o111) === 0) chmodSync(path, 0o755);
  if (!isKnown) {
    mkdirSync(dirname(mark), { recursive: true });
    writeFileSync(mark, JSON.stringify({ path, size, mtimeMs, sha256 }));
  }
}

/** The mark; undefined if there is none or it is incomplete, because a run was killed while writing it. */
function readMark(mark: string): z.infer<typeof MarkSchema> | undefined {
  try {
    return MarkSchema.parse(JSON.parse(readFileSync(mark, "utf8")));
  } catch {
    return undefined;
  }
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash);
  return hash.digest("hex");
}
