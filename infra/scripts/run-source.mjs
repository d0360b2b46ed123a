// Runs programs of packages/lab from their source, as `npm run bench`, `chaos`, `evals` and `simulate` do.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

/** Runs a command and ends this process when it fails. */
export function run(command, args, options) {
  const result = spawnSync(command, args, { cwd: root, ...options });
  if (result.error) console.error(`Could not run ${command}: ${result.error.message}`);
  if (result.status !== 0) process.exit(result.status ?? 1);
}

/**
 * Bundles what changed: some programs start services from their bundles, as in production. Standard output is
 * for results alone.
 */
export function build() {
  const turbo = join(root, "node_modules", ".bin", "turbo");
  run(turbo, ["run", "bundle", "bundle:apart", "--output-logs=errors-only"], { stdio: ["ignore", 2, 2] });
}

/**
 * A Node of this major version, from npm's package `node`, which is kept in `.data/node-VERSION`.
 * @returns the program, and an environment in which programs that are started by name get the same Node
 */
export function nodeOf(major) {
  const folder = join(root, ".data", `node-${major}`);
  const node = join(folder, "node_modules", "node", "bin", "node");
  if (!existsSync(node)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
    const install = ["install", "--no-save", "--loglevel=error", `node@${major}`];
    run("npm", install, { cwd: folder, stdio: ["ignore", 2, 2] });
  }
  return { node, env: { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` } };
}

/** Runs a program that a package of ours brings. */
export function runTool(name, args) {
  run(join(root, "node_modules", ".bin", name), args, { stdio: "inherit" });
}

/**
 * Runs a file below packages/lab/src with these arguments, on this Node or that of {@link nodeOf}; so do the
 * services that it starts.
 */
export function runSource(file, args, nodeOptions = [], { node, env } = { node: process.execPath }) {
  const main = join(root, "packages", "lab", "src", file);
  run(node, [...nodeOptions, "--import", "tsx", "-C", "@planwright/source", main, ...args], {
    stdio: "inherit",
    env,
  });
}
