import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CodedError } from "@planwright/plan";
import { say } from "../report/output.ts";

/** npm could not install the packages. The output of npm says why. */
export class PackagesNotInstalledError extends CodedError<{ folder: string }> {
  readonly code = "PACKAGES_NOT_INSTALLED";
  readonly retryable = true;
  constructor(folder: string) {
    super(`The packages were not installed into ${folder}, see the output of npm above`, { folder });
  }
}

/** Packages from npm and a folder for them. */
export interface PackagesOptions {
  /** Made when absent. Its node_modules gets the packages. */
  folder: string;
  /** Exact versions by name. */
  packages: Readonly<Record<string, string>>;
  /** What they are, with their size, such as "peers (about 300 MB)". */
  what: string;
}

/** True when exactly these versions were installed there before. */
export function areInstalled({ folder, packages }: PackagesOptions): boolean {
  const done = join(folder, "installed.json");
  return existsSync(done) && readFileSync(done, "utf8") === manifestOf(packages);
}

/**
 * Installs packages from npm, without running their scripts, unless exactly these versions are installed
 * already.
 * @throws {PackagesNotInstalledError}
 */
export function installPackages(options: PackagesOptions): void {
  if (areInstalled(options)) return;
  const { folder, packages, what } = options;
  say(`Installing ${what} into ${folder} ...`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), manifestOf(packages));
  const { status } = spawnSync(
    "npm",
    ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--engine-strict=false"],
    { cwd: folder, stdio: ["ignore", 2, 2] },
  );
  if (status !== 0) throw new PackagesNotInstalledError(folder);
  writeFileSync(join(folder, "installed.json"), manifestOf(packages));
}

function manifestOf(packages: Readonly<Record<string, string>>): string {
  return `${JSON.stringify({ private: true, dependencies: packages }, null, 2)}\n`;
}
