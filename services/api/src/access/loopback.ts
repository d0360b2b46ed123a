import { BlockList, isIP } from "node:net";

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

/** True for an address, or a name, that only this machine reaches: 127.0.0.0/8, ::1, localhost. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[(.*)\]$/, "$1").toLowerCase();
  if (name === "localhost") return true;
  const family = isIP(name);
  return family !== 0 && LOOPBACK.check(name, family === 4 ? "ipv4" : "ipv6");
}

/** `uri-host [":" port]`: a name or an address, and no user, path or query, which a parser of addresses would cut off. */
const HOST = /^(\[[0-9a-f:.]+\]|[\w.~%!$&'()*+,;=-]+)(?::\d{0,5})?$/i;

/** Host of a Host header, without its port; undefined for a header that is none. @see RFC 9110, section 7.2 */
export function parseHost(header: string | undefined): string | undefined {
  return header === undefined ? undefined : HOST.exec(header)?.[1];
}

/**
 * True when a Host header names this machine as itself. A page from elsewhere whose own name was pointed at 127.0.0.1 sends its
 * own name, and so does a client behind a proxy that passes the name on.
 */
export function isLoopbackHost(header: string | undefined): boolean {
  const host = parseHost(header);
  return host !== undefined && isLoopback(host);
}
