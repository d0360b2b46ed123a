/** The installation by `npm start`, with the real npm, in a small project whose packages need no registry. */
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { folder, ROOT, run } from "./typed-command.ts";

/** No request leaves the machine. */
const OFFLINE = { npm_config_offline: "true", npm_config_audit: "false", npm_config_fund: "false" };

/**
 * The folder to pull from. npm never installs there: when npm writes a lock file beside installed packages,
 * it also changes its record of them.
 */
let origin: string;
let project: string;
beforeEach(async () => {
  origin = folder();
  project = folder();
  cpSync(join(ROOT, "infra", "scripts", "prepare.mjs"), join(origin, "infra", "scripts", "prepare.mjs"));
  write(origin, "packages/cli/dist/main.js", "");
  // The child's output is for failures; so it writes a file.
  const turbo = 'require("node:fs").writeFileSync("made", process.argv.slice(2).join(" "));';
  write(origin, "turbo/turbo.js", `#!/usr/bin/env node\n${turbo}\n`);
  // For another platform: npm lists it in the lock file and does not install it.
  write(origin, "elsewhere/package.json", { name: "elsewhere", version: "1.0.0", os: ["none"] });
  await type(origin, "npm", "pack", "./elsewhere");
});

function write(to: string, file: string, content: string | object): void {
  const path = join(to, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
}

/** Runs a command in a folder. @returns its output */
async function type(where: string, command: string, ...args: string[]): Promise<string> {
  const line = [`cd "$0" &&`, command, ...args].join(" ");
  const running = run("sh", ["-c", line, where], OFFLINE);
  expect({ line, code: await running.ended }).toEqual({ line, code: 0 });
  return running.output();
}

/** Pulls a lock file with this version of the only package that is installed. */
async function pull(version: string): Promise<void> {
  write(origin, "turbo/package.json", { name: "turbo", version, bin: "turbo.js" });
  await type(origin, "npm", "pack", "./turbo");
  write(origin, "package.json", {
    name: "project",
    version: "1.0.0",
    private: true,
    devDependencies: { turbo: `file:turbo-${version}.tgz` },
    optionalDependencies: { elsewhere: "file:elsewhere-1.0.0.tgz" },
  });
  await type(origin, "npm", "install", "--package-lock-only");
  cpSync(origin, project, { recursive: true });
}

/** A file that `npm ci` removes, with the rest of the folder. */
const marker = () => join(project, "node_modules", "marker");
const start = () => type(project, "node", "infra/scripts/prepare.mjs", "build", "bundle");

test("after npm ci nothing is installed again", async () => {
  await pull("1.0.0");
  await type(project, "npm", "ci");
  expect(existsSync(join(project, "node_modules", "elsewhere"))).toBe(false);
  writeFileSync(marker(), "");
  expect(await start()).toBe("");
  expect(existsSync(marker())).toBe(true);
  expect(readFileSync(join(project, "made"), "utf8")).toBe("run build bundle --output-logs=errors-only");
});

test("a new clone is installed, and again when the lock file has another version", async () => {
  for (const version of ["1.0.0", "1.0.1"]) {
    await pull(version);
    expect(await start()).toMatch(/^Installing packages .*\n$/);
    expect(existsSync(marker())).toBe(false);
    writeFileSync(marker(), "");
  }
  expect(await start()).toBe("");
});
