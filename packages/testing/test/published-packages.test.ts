/** The libraries that are published, packed by npm as for a release. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { testAndProof } from "../src/index.ts";

const PACKAGES = fileURLToPath(new URL("../../", import.meta.url));

const PackedSchema = z.tuple([
  z.object({ filename: z.string(), files: z.array(z.object({ path: z.string() })) }),
]);

/** Packs a package as npm publishes it. */
function pack(name: string): { tarball: Uint8Array<ArrayBuffer>; paths: string[] } {
  const folder = mkdtempSync(join(tmpdir(), "planwright-packed-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const options = ["--json", "--ignore-scripts", "--pack-destination", folder];
  const packed = spawnSync("npm", ["pack", ...options], { cwd: join(PACKAGES, name), encoding: "utf8" });
  const [{ filename, files }] = PackedSchema.parse(JSON.parse(packed.stdout));
  return {
    tarball: new Uint8Array(readFileSync(join(folder, filename))),
    paths: files.map(({ path }) => path),
  };
}

/** The messages of publint; none for a package that is as it should be. */
async function lint({ tarball }: Pick<ReturnType<typeof pack>, "tarball">): Promise<(string | undefined)[]> {
  const { messages, pkg } = await publint({ pack: { tarball: tarball.buffer }, strict: true });
  return messages.map((message) => formatMessage(message, pkg));
}

test("create-planwright is published with its program and the template, and without anything else", async () => {
  const packed = pack("create-planwright");
  const paths = packed.paths.filter((path) => !path.startsWith("template/"));
  expect(paths.toSorted()).toEqual(["LICENSE", "README.md", "dist/main.js", "package.json"]);
  const inRepository = spawnSync("git", ["ls-files", "template"], {
    cwd: join(PACKAGES, "create-planwright"),
    encoding: "utf8",
  });
  const template = packed.paths.filter((path) => path.startsWith("template/"));
  expect(template.toSorted()).toEqual(inRepository.stdout.trim().split("\n").toSorted());
  expect(await lint(packed)).toEqual([]);
});

/** Only ES modules are published: `require` of Node 20 gets them too. */
const OLD_WAYS: ReadonlySet<unknown> = new Set(["node10", "node16-cjs"]);

const LIBRARIES = ["plan", "engine", "client", "tool-kit", "test-kit"];

/** `npm test` packs one without and one with dependencies on the others. */
for (const { cases, options } of testAndProof(LIBRARIES, (name) => name, ["plan", "tool-kit"]))
  test.each(cases)(
    "@planwright/%s is published with code, types, README and licence, and nothing that only a build needs",
    options,
    async (name) => {
      const { tarball, paths } = pack(name);
      expect(paths).toEqual(
        expect.arrayContaining(["dist/index.js", "dist/index.d.ts", "src/index.ts", "README.md", "LICENSE"]),
      );
      expect(paths.filter((path) => /tsbuildinfo|\.cache|\.test\.|^test\//.test(path))).toEqual([]);

      expect(await lint({ tarball })).toEqual([]);

      const checked = await checkPackage(createPackageFromTarballData(tarball));
      const problems = "problems" in checked ? checked.problems : ["it has no types"];
      expect(
        problems.filter(
          (problem) =>
            !(
              typeof problem === "object" &&
              "resolutionKind" in problem &&
              OLD_WAYS.has(problem.resolutionKind)
            ),
        ),
      ).toEqual([]);
    },
  );
