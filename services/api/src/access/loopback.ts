import { BlockList, isIP } from "node:net";

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

/** True for an address or name that only this machine can reach: 127.0.0.0/8, ::1, localhost. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[(.*)\]$/, "$1").toLowerCase();
  if (name === "localhost") return true;
  const family = isIP(name);
  return family !== 0 && LOOPBACK.check(name, family === 4 ? "ipv4" : "ipv6");
}

/**
 * `uri-host [":" port]`: a name or an address. A user, path or query is refused; a URL parser would drop
 * them.
 */
const HOST = /^(\[[0-9a-f:.]+\]|[\w.~%!$&'()*+,;=-]+)(?::\d{0,5})?$/i;

/** Host of a Host header, without its port; undefined for an invalid header. @see RFC 9110, section 7.2 */
export function parseHost(header: string | undefined): string | undefined {
  return header === undefined ? undefined : HOST.exec(header)?.[1];
}

/**
 * True when a Host header has a loopback name. A page of another site whose name resolves to 127.0.0.1 sends
 * the name of that site (DNS rebinding), and so does a client behind a proxy that keeps the Host header.
 */
export function isLoopbackHost(header: string | undefined): boolean {
  const host = parseHost(header);
  return host !== undefined && isLoopback(host);
}
