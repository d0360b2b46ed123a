/** The build that `npm run build` made. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";

const DIST = fileURLToPath(new URL("../dist/", import.meta.url));

/** The files that the page loads before it shows anything. */
function firstFiles(): string[] {
  const page = readFileSync(`${DIST}index.html`, "utf8");
  return [...page.matchAll(/(?:src|href)="\/console\/([^"]+)"/g)].map(([, file]) => file ?? "");
}

test("the first view is at most 250 kB, compressed", () => {
  const files = firstFiles();
  const sizes = files.map((file) => gzipSync(readFileSync(`${DIST}${file}`)).length);
  expect(files.filter((file) => file.endsWith(".js")).length).toBeGreaterThan(0);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(250_000);
});

test("the editor of the desk is not part of the first view", () => {
  const texts = firstFiles().map((file) => readFileSync(`${DIST}${file}`, "utf8"));
  expect(texts.some((text) => text.includes("cm-editor"))).toBe(false);
});
