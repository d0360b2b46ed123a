#!/usr/bin/env node
/** `npm create planwright my-app`: writes a new app into a folder, and says what to type next. */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const HELP = `npm create planwright [folder] [-- --install | --no-install]

Writes a new app into a folder that does not exist, or is empty: a tool server, a typed plan, and tests.
Without a folder or a flag it asks.
`;
const DEFAULT_FOLDER = "my-app";

/** A folder that cannot be used, or a wrong argument: one line for the person who typed it. */
class WrongArgumentError extends Error {}

/** Flags, and questions for what they do not say. */
async function answers(): Promise<{ folder: string; installs: boolean }> {
  const { values, positionals } = parseArguments();
  const [given, ...others] = positionals;
  if (others.length > 0)
    throw new WrongArgumentError(`One folder is enough: ${positionals.join(", ")} are several`);
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY;
  if (given === undefined && !isTerminal)
    throw new WrongArgumentError("Name a folder: npm create planwright my-app");
  const questions = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const ask = async (question: string, otherwise: string) =>
      (await questions.question(`${question} (${otherwise}) `)).trim() || otherwise;
    const folder = given ?? (await ask("Folder of the new app?", DEFAULT_FOLDER));
    requireEmpty(folder);
    const { install } = values;
    const installs =
      install ?? (isTerminal && (await ask("Install its packages now?", "yes")).startsWith("y"));
    return { folder, installs };
  } finally {
    questions.close();
  }
}

function parseArguments() {
  try {
    const options = { install: { type: "boolean" }, help: { type: "boolean", short: "h" } } as const;
    const parsed = parseArgs({ options, allowPositionals: true, allowNegative: true });
    if (!parsed.values.help) return parsed;
  } catch (error) {
    throw new WrongArgumentError(`${error instanceof Error ? error.message : String(error)}\n\n${HELP}`);
  }
  process.stdout.write(HELP);
  process.exit(0);
}

/** @throws {WrongArgumentError} for a folder in which a file could be overwritten */
function requireEmpty(folder: string): void {
  if (!existsSync(folder)) return;
  const [first] = readdirSync(folder);
  if (first !== undefined)
    throw new WrongArgumentError(
      `${folder} is not empty (${first}). Name another folder; nothing was written`,
    );
}

/** Writes the template; versions of our packages are those of this one. */
function write(folder: string): void {
  const here = fileURLToPath(new URL("..", import.meta.url));
  const { version }: { version: string } = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
  cpSync(join(here, "template"), folder, { recursive: true });
  // npm does not pack a .gitignore, and would read another package.json as that of a package.
  renameSync(join(folder, "gitignore"), join(folder, ".gitignore"));
  renameSync(join(folder, "app.json"), join(folder, "package.json"));
  const name = basename(resolve(folder))
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, "-")
    .replaceAll(/^-+|-+$/g, "");
  for (const file of ["package.json", "README.md"]) {
    const text = readFileSync(join(folder, file), "utf8");
    const filled = text
      .replaceAll("APP_NAME", name || DEFAULT_FOLDER)
      .replaceAll("PLANWRIGHT_VERSION", version);
    writeFileSync(join(folder, file), filled);
  }
}

try {
  const { folder, installs } = await answers();
  write(folder);
  if (installs) {
    const { status } = spawnSync("npm", ["install", "--no-audit", "--no-fund"], {
      cwd: folder,
      stdio: "inherit",
    });
    if (status !== 0) process.exitCode = 1;
  }
  const path = relative(process.cwd(), resolve(folder)) || ".";
  process.stdout.write(`
Wrote a new app into ${path}. Next:

${path === "." ? "" : `  cd ${path}\n`}${installs ? "" : "  npm install\n"}  npm test       tests of the plan and its tools
  npm run dev    the system and your tools; what you change is reloaded
  npm run order  runs the plan of src/plan.ts, in another terminal
`);
} catch (error) {
  if (!(error instanceof WrongArgumentError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
