import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ChecksumError } from "./errors.ts";
import { verifyBinary } from "./start-mongo.ts";

function binary(content: string) {
  const folder = mkdtempSync(join(tmpdir(), "planwright-file-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "server");
  writeFileSync(path, content, { mode: 0o644 });
  return { path, cache: join(folder, "cache"), isRunnable: () => (statSync(path).mode & 0o100) !== 0 };
}
const hashOf = (text: string) => createHash("sha256").update(text).digest("hex");

test("verifyBinary makes the known file executable", async () => {
  const { path, cache, isRunnable } = binary("good");
  await verifyBinary(path, hashOf("good"), cache);
  expect(isRunnable()).toBe(true);
});

test("verifyBinary refuses any other file and does not make it executable", async () => {
  const { path, cache, isRunnable } = binary("evil");
  await expect(verifyBinary(path, hashOf("good"), cache)).rejects.toThrow(ChecksumError);
  expect(isRunnable()).toBe(false);
});

test("a file that changes after it was checked is checked again", async () => {
  const { path, cache } = binary("good");
  await verifyBinary(path, hashOf("good"), cache);
  writeFileSync(path, "evil!");
  await expect(verifyBinary(path, hashOf("good"), cache)).rejects.toThrow(ChecksumError);
});

test("an incomplete mark is ignored", async () => {
  const { path, cache } = binary("good");
  await verifyBinary(path, hashOf("good"), cache);
  writeFileSync(join(cache, `${hashOf("good").slice(0, 16)}.json`), '{"path":');
  await expect(verifyBinary(path, hashOf("good"), cache)).resolves.toBeUndefined();
});
