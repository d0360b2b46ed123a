import { createRequire } from "node:module";
import { join } from "node:path";
import type { PEER_PACKAGES } from "./install-peers.ts";

/**
 * Loads a package of the folder that the variable PEERS names, in a process that startPeerService started.
 * The types of the package are not known here: the caller declares the part that it uses.
 */
export function requirePeer(name: keyof typeof PEER_PACKAGES): unknown {
  return createRequire(join(process.env["PEERS"] ?? "", "package.json"))(name);
}
