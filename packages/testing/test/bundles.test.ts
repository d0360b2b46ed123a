import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { testServers } from "../src/index.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const SCRIPTS = join(ROOT, "infra", "scripts");

let folder: string;
let main: string;
beforeEach(() => {
  const cache = join(ROOT, "node_modules", ".cache");
  mkdirSync(cache, { recursive: true });
  folder = mkdtempSync(join(cache, "planwright-test-"));
  main = join(folder, "main.mjs");
  onTestFinished(() => rmSync(folder, { recursive: true }));
});

/** Runs Node; fails with what it printed if it does not exit with 0. */
function node(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return stdout;
}

test("a program that was bundled again runs as its source is now, also when its length is the same", () => {
  const bundled = () => {
    node(join(SCRIPTS, "bundle.mjs"), "--main", main, "--folder", folder);
    return node(join(folder, "start.cjs"));
  };
  writeFileSync(main, 'console.log("one");\n');
  expect(bundled()).toBe("one\n");
  writeFileSync(main, 'console.log("two");\n');
  expect(bundled()).toBe("two\n");
});

test.each(['"zwölf → 🙂"', "String.raw`zwölf → 🙂`"])("a bundled program prints %s", (literal) => {
  writeFileSync(main, `/*! Wärting */\nconsole.log(${literal});\n`);
  node(join(SCRIPTS, "bundle.mjs"), "--main", main, "--folder", folder);
  expect(node(join(folder, "start.cjs"))).toBe("zwölf → 🙂\n");
});

/** A program that bundles the main file, writes the second argument into it, and bundles it again. */
const BUNDLE_TWICE = `
import { writeFileSync } from "node:fs";
import { createApartBundler } from ${JSON.stringify(join(SCRIPTS, "bundle-apart.mjs"))};
const [main, folder, changed] = process.argv.slice(1);
const bundle = createApartBundler({ main, folder });
await bundle();
writeFileSync(main, changed);
await bundle();
`;

test("a program that is bundled apart from its libraries follows its source, with new libraries and named exports", () => {
  const out = join(folder, "out");
  writeFileSync(main, 'import { z } from "zod";\nconsole.log(z.string().parse("one"));\n');
  const changed = `import pRetry, { AbortError } from "p-retry";
import { z } from "zod";
import { MongoClient } from "mongodb";
import mongodb from "mongodb";
console.log(z.string().parse(await pRetry(async () => "two")), new AbortError("no").name);
console.log(mongodb.MongoClient === MongoClient);
`;
  node("--input-type=module", "-e", BUNDLE_TWICE, main, out, changed);
  expect(node(join(out, "bundle.cjs"))).toBe("two AbortError\ntrue\n");
});

test("an error of a program that is bundled apart names the line of its source", () => {
  const out = join(folder, "out");
  const failing = 'import { z } from "zod";\n\nz.string().parse(await 1);\n';
  writeFileSync(main, failing);
  node("--input-type=module", "-e", BUNDLE_TWICE, main, out, failing);
  const run = spawnSync(process.execPath, ["--enable-source-maps", join(out, "bundle.cjs")], {
    encoding: "utf8",
  });
  expect(run.stderr).toMatch(/main\.mjs:3:\d+/);
});

/** Signs in with a name that the server does not know; prints the code of its refusal, and how the address was read. */
const SIGN_IN = `
import { MongoClient } from "mongodb";
const client = new MongoClient(process.argv[2], { authMechanism: "SCRAM-SHA-256" });
const { hosts, credentials, replicaSet, appName } = client.options;
const refused = await client.db("x").command({ ping: 1 }).catch(({ code }) => code);
console.log(JSON.stringify({ refused, hosts, credentials, replicaSet, appName }));
await client.close();
`;

test("a bundled driver of MongoDB reads addresses and signs in as the driver itself does", async () => {
  const { mongodbUrl } = testServers();
  writeFileSync(main, SIGN_IN);
  node(join(SCRIPTS, "bundle.mjs"), "--main", main, "--folder", folder);
  const address = mongodbUrl
    .replace("://", "://m%C3%A4x:p%C3%A4ss%C2%AAw%E2%85%A8rd@")
    .concat("&appName=a%20b");
  const unbundled = node(main, address);
  expect(JSON.parse(unbundled)).toMatchObject({
    refused: 18,
    credentials: { username: "mäx" },
    appName: "a b",
  });
  expect(node(join(folder, "start.cjs"), address)).toBe(unbundled);
});
