/**
 * Controls which addresses this system may connect to. The check is made on the resolved address that the
 * connection uses, and the name is not resolved again. So the owner of a name cannot show one address to the
 * check and another to the connection.
 */
import { lookup as dnsLookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { CodedError } from "@planwright/plan";
import ipaddr from "ipaddr.js";
import type { Agent, Dispatcher } from "undici";
import { z } from "zod";

/**
 * `any`: loopback and private addresses are allowed too, because operators know their own network. `public`:
 * only addresses of the internet.
 */
export const OutboundAddressesSchema = z.enum(["any", "public"]).default("any");
export type OutboundAddresses = z.infer<typeof OutboundAddressesSchema>;

/** The address must not be connected to, so nothing was sent. */
export class AddressForbiddenError extends CodedError<{ host: string; address: string; range: string }> {
  readonly code = "ADDRESS_FORBIDDEN";
  readonly retryable = false;
  constructor(facts: { host: string; address: string; range: string }, isByChoice: boolean) {
    const { host, address, range } = facts;
    const which = host === address ? address : `${host} is ${address}, which`;
    const remedy = isByChoice
      ? "set OUTBOUND_ADDRESSES=any to allow it, or use a public address"
      : "it is never allowed; correct the address";
    super(`${which} is ${range} and must not be connected to: ${remedy}`, facts);
  }
}

/** Allows connections to permitted addresses only. */
export interface AddressGuard {
  /**
   * Checks a host that is an address; addresses are not looked up. A name passes.
   * @param host - as in a URL, with or without the brackets of IPv6
   * @throws {AddressForbiddenError}
   */
  check(host: string): void;
  /**
   * For `net.connect` and everything built on it: resolves a name to its permitted addresses; fails with
   * {@link AddressForbiddenError} when there are none.
   */
  lookup: LookupFunction;
}

/** Resolves a name to all of its addresses. */
export type Resolve = (
  name: string,
  options: { all: true; family?: number | undefined; hints?: number | undefined },
  done: (error: Error | null, addresses: { address: string; family: number }[]) => void,
) => void;

/** Ranges that never contain a server of ours: link-local, multicast, unspecified and broadcast. */
const NEVER = new Set(["linkLocal", "multicast", "unspecified", "broadcast"]);
/** Addresses where clouds give a machine its credentials, in addition to link-local addresses. */
const METADATA = [
  "fd00:ec2::/32", // AWS
  "fd20:ce::254/128", // Google Cloud
  "100.100.100.200/32", // Alibaba Cloud
  "168.63.129.16/32", // Azure
  "192.0.0.192/32", // Oracle Cloud
].map((range) => ipaddr.parseCIDR(range));

/** A guard. @param resolve - for tests; default: the resolver of the machine */
export function createAddressGuard(
  allowed: OutboundAddresses,
  resolve: Resolve = systemLookup,
): AddressGuard {
  function refusal(host: string, address: string): AddressForbiddenError | undefined {
    const range = rangeOf(address);
    const isNever = NEVER.has(range) || range === "metadata";
    if (!isNever && (allowed === "any" || range === "unicast")) return undefined;
    return new AddressForbiddenError({ host, address, range }, !isNever);
  }

  return {
    check(host) {
      const address = host.replace(/^\[|\]$/g, "");
      const error = isIP(address) === 0 ? undefined : refusal(address, address);
      if (error) throw error;
    },

    lookup(name, { all, family, hints }, done) {
      const wanted = family === "IPv4" ? 4 : family === "IPv6" ? 6 : family;
      resolve(name, { all: true, family: wanted, hints }, (error, addresses) => {
        if (error) return done(error, []);
        const refusals = addresses.map(({ address }) => refusal(name, address));
        const passed = addresses.filter((_, index) => refusals[index] === undefined);
        const [first] = passed;
        if (!first) return done(refusals[0] ?? noAddress(name), []);
        if (all) done(null, passed);
        else done(null, first.address, first.family);
      });
    },
  };
}

/** The same error as `dns.lookup` gives. */
function noAddress(name: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${name} has no address`), { code: "ENOTFOUND" });
}

function systemLookup(...[name, options, done]: Parameters<Resolve>): void {
  dnsLookup(name, options, done);
}

/** The range of an address. An address that stands for an IPv4 address has the range of that one. */
function rangeOf(text: string): string {
  const address = ipaddr.process(text);
  if (METADATA.some(([network, bits]) => address.kind() === network.kind() && address.match(network, bits)))
    return "metadata";
  const range = address.range();
  const inner = address instanceof ipaddr.IPv6 ? innerAddress(address, range) : undefined;
  return inner === undefined ? range : rangeOf(inner);
}

/** The IPv4 address inside addresses of NAT64, 6to4 and IPv4-compatible IPv6. */
function innerAddress(address: ipaddr.IPv6, range: string): string | undefined {
  const bytes = address.toByteArray();
  if (range === "6to4") return bytes.slice(2, 6).join(".");
  const isCompatible =
    range !== "unspecified" && range !== "loopback" && bytes.slice(0, 12).every((byte) => byte === 0);
  return range === "rfc6052" || isCompatible ? bytes.slice(12).join(".") : undefined;
}

/** Largest answer that is read, in bytes. */
const MAX_BYTES = 1_048_576;
const WITHOUT_BODY = new Set([204, 205, 304]);

/** Fetches a small document, like `fetch`. */
export type GuardedFetch = (url: string, init: RequestInit) => Promise<Response>;

/**
 * A `fetch` for documents of at most 1 MiB that connects only to addresses that the guard permits. Redirects
 * are returned as answers and not followed. Bodies are texts and forms.
 * @throws {AddressForbiddenError} when the address is not permitted; undici's errors when there is no answer
 */
export function createGuardedFetch(guard: AddressGuard): GuardedFetch {
  let agent: Agent | undefined;
  return async (url, init) => {
    guard.check(new URL(url).hostname);
    // Loaded when needed: most services fetch nothing.
    const undici = await import("undici");
    agent ??= new undici.Agent({ connect: { lookup: guard.lookup }, maxResponseSize: MAX_BYTES });
    const sent = init.body instanceof URLSearchParams ? init.body.toString() : init.body;
    const { statusCode, headers, body } = await undici.request(url, {
      dispatcher: agent,
      method: (init.method ?? "GET") as Dispatcher.HttpMethod,
      ...(typeof sent === "string" && { body: sent }),
      headers: Object.fromEntries(new Headers(init.headers)),
      signal: init.signal ?? null,
    });
    const text = await body.text();
    const headerList = Object.entries(headers).flatMap(([name, value]) =>
      [value ?? []].flat().map((each): [string, string] => [name, each]),
    );
    return new Response(WITHOUT_BODY.has(statusCode) ? null : text, {
      status: statusCode,
      headers: headerList,
    });
  };
}
