#!/usr/bin/env node
/** `npm create planwright my-app`: writes a new app into a folder, and says what to type next. */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
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
  // Ctrl-C or Ctrl-D at a question; nothing is written yet.
  questions.once("close", () => process.exit(130));
  try {
    const ask = async (question: string, otherwise: string) =>
      (await questions.question(`${question} (${otherwise}) `)).trim() || otherwise;
    const folder = given ?? (await ask("Folder of the new app?", DEFAULT_FOLDER));
    requireEmpty(folder);
    const { install } = values;
    const installs = install ?? (isTerminal && /^y/i.test(await ask("Install its packages now?", "yes")));
    return { folder, installs };
  } finally {
    questions.removeAllListeners("close");
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

/** What a new folder may have already: it is overwritten by nothing of ours. */
const NO_CONTENT: ReadonlySet<string> = new Set([".git", ".DS_Store"]);

/** @throws {WrongArgumentError} for a folder in which a file could be overwritten */
function requireEmpty(folder: string): void {
  if (!existsSync(folder)) return;
  if (!statSync(folder).isDirectory())
    throw new WrongArgumentError(`${folder} is a file. Name another folder; nothing was written`);
  const first = readdirSync(folder).find((name) => !NO_CONTENT.has(name));
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

/** @returns false when npm has failed, and said why */
function install(folder: string): boolean {
  const args = ["install", "--no-audit", "--no-fund"];
  // On Windows npm is a script, which only a shell starts.
  const isScript = process.platform === "win32";
  return spawnSync("npm", args, { cwd: folder, stdio: "inherit", shell: isScript }).status === 0;
}

try {
  const { folder, installs } = await answers();
  write(folder);
  const isInstalled = installs && install(folder);
  if (installs && !isInstalled) process.exitCode = 1;
  const path = relative(process.cwd(), resolve(folder)) || ".";
  const shown = /^[\w./@:~-]+$/.test(path) ? path : JSON.stringify(path);
  process.stdout.write(`
Wrote a new app into ${path}. Next:

${path === "." ? "" : `  cd ${shown}\n`}${isInstalled ? "" : "  npm install\n"}  npm test       tests of the plan and its tools
  npm run dev    the system and your tools; what you change is reloaded
  npm run order  runs the plan of src/plan.ts, in another terminal
`);
} catch (error) {
  // Of the file system: no permission, no space, a path that cannot be.
  const isOfSystem = error instanceof Error && "syscall" in error;
  if (!(error instanceof WrongArgumentError || isOfSystem)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
