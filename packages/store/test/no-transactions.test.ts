/** R3: the entry is the commit point. There are no transactions over several documents. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const WORDS =
  /\b(withTransaction|startTransaction|commitTransaction|withSession|startSession|ClientSession)\b/;

async function sourcesOf(group: "packages" | "services"): Promise<string[]> {
  // The chaos tests of the lab read in a snapshot, which needs a session. The kit for tool servers writes to the
  // databases of its users, never to ours.
  const names = (await readdir(join(ROOT, group))).filter((name) => name !== "lab" && name !== "tool-kit");
  const found = await Promise.all(
    names.map(async (name) => {
      const folder = join(ROOT, group, name, "src");
      const files = await readdir(folder, { recursive: true }).catch(() => []);
      return files
        .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
        .map((file) => join(folder, file));
    }),
  );
  return found.flat();
}

test("no package and no service uses a transaction", async () => {
  const files = [...(await sourcesOf("packages")), ...(await sourcesOf("services"))];
  expect(files.length).toBeGreaterThan(500);
  const texts = await Promise.all(files.map(async (file) => ({ file, text: await readFile(file, "utf8") })));
  expect(texts.filter(({ text }) => WORDS.test(text)).map(({ file }) => file.slice(ROOT.length))).toEqual([]);
});
