import type { LookupAddress } from "node:dns";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  AddressForbiddenError,
  createAddressGuard,
  createGuardedFetch,
  type Resolve,
} from "./address-guard.ts";

const passes = (allowed: "any" | "public", host: string): boolean => {
  try {
    createAddressGuard(allowed).check(host);
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(AddressForbiddenError);
    return false;
  }
};

test.each([
  "169.254.169.254",
  "169.254.0.1",
  "[fe80::1]",
  "[febf::1]",
  "[fd00:ec2::254]",
  "[fd20:ce::254]",
  "100.100.100.200",
  "168.63.129.16",
  "192.0.0.192",
  "224.0.0.1",
  "[ff02::1]",
  "0.0.0.0",
  "0.1.2.3",
  "[::]",
  "255.255.255.255",
  "[::ffff:169.254.169.254]",
  "[::ffff:a9fe:a9fe]",
  "[64:ff9b::a9fe:a9fe]",
  "[2002:a9fe:a9fe::1]",
  "[::a9fe:a9fe]",
])("%s is never connected to", (host) => {
  expect(passes("any", host)).toBe(false);
  expect(passes("public", host)).toBe(false);
});

test.each([
  "127.0.0.1",
  "127.8.8.8",
  "[::1]",
  "[::ffff:127.0.0.1]",
  "10.0.0.1",
  "172.16.0.1",
  "192.168.1.1",
  "100.64.0.1",
  "[fc00::1]",
  "[fd12:3456::1]",
  "198.18.0.1",
  "192.0.2.1",
  "[2001:db8::1]",
  "[64:ff9b::a00:1]",
  "[2002:a00:1::1]",
])("%s is connected to unless only public addresses are allowed", (host) => {
  expect(passes("any", host)).toBe(true);
  expect(passes("public", host)).toBe(false);
});

test.each(["1.1.1.1", "[2606:4700::1111]", "[64:ff9b::101:101]", "example.com", "localhost"])(
  "%s passes: a public address, or a name that is checked when it is resolved",
  (host) => expect(passes("public", host)).toBe(true),
);

/** A resolver with these answers in order; the last one is repeated. */
function resolver(...answers: string[][]): { resolve: Resolve; asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    resolve(name, _, done) {
      asked.push(name);
      const answer = answers[asked.length - 1] ?? answers.at(-1) ?? [];
      done(
        null,
        answer.map((address): LookupAddress => ({ address, family: address.includes(":") ? 6 : 4 })),
      );
    },
  };
}

test("only the allowed addresses of a name are returned", () => {
  const { resolve } = resolver(["169.254.169.254", "1.1.1.1", "10.0.0.1", "::1"]);
  const guard = createAddressGuard("public", resolve);
  const given: unknown[] = [];
  guard.lookup("x.test", { all: true }, (error, addresses) => given.push(error, addresses));
  guard.lookup("x.test", {}, (error, address, family) => given.push(error, address, family));
  expect(given).toEqual([null, [{ address: "1.1.1.1", family: 4 }], null, "1.1.1.1", 4]);
});

let server: Server;
let port: number;
let requests: string[];

beforeEach(async () => {
  requests = [];
  server = createServer((request, response) => {
    requests.push(`${request.headers.host} ${request.url}`);
    if (request.url === "/away") response.writeHead(302, { location: `http://127.0.0.1:${port}/` }).end();
    else
      response
        .writeHead(200, { "content-type": "text/plain", connection: "close" })
        .end(request.url === "/large" ? "x".repeat(2_000_000) : "hello");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  port = (server.address() as AddressInfo).port;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

test("a document is fetched from the checked address, and the name is resolved once", async () => {
  const { resolve, asked } = resolver(["127.0.0.1"]);
  const fetchDocument = createGuardedFetch(createAddressGuard("any", resolve));
  const response = await fetchDocument(`http://keys.test:${port}/keys`, {});
  expect([response.status, await response.text()]).toEqual([200, "hello"]);
  expect(requests).toEqual([`keys.test:${port} /keys`]);
  expect(asked).toEqual(["keys.test"]);
});

test("a name that resolves to a forbidden address the second time is refused then", async () => {
  const { resolve } = resolver(["127.0.0.1"], ["169.254.169.254"]);
  const fetchDocument = createGuardedFetch(createAddressGuard("any", resolve));
  await fetchDocument(`http://keys.test:${port}/1`, {});
  await expect(fetchDocument(`http://keys.test:${port}/2`, {})).rejects.toMatchObject({
    code: "ADDRESS_FORBIDDEN",
    message: expect.stringContaining("keys.test is 169.254.169.254, which is linkLocal"),
  });
  expect(requests).toHaveLength(1);
});

test.each([
  "http://127.0.0.1",
  "http://0x7f.1",
  "http://2130706433",
  "http://localhost",
  "http://[::ffff:127.0.0.1]",
])(
  "%s is refused when only public addresses are allowed, and the message has the setting",
  async (origin) => {
    const fetchDocument = createGuardedFetch(createAddressGuard("public"));
    await expect(fetchDocument(`${origin}:${port}/`, {})).rejects.toMatchObject({
      code: "ADDRESS_FORBIDDEN",
      message: expect.stringContaining("OUTBOUND_ADDRESSES=any"),
    });
    expect(requests).toEqual([]);
  },
);

test("redirects are returned as answers, and a document that is too large is refused", async () => {
  const fetchDocument = createGuardedFetch(createAddressGuard("any"));
  expect((await fetchDocument(`http://127.0.0.1:${port}/away`, {})).status).toBe(302);
  await expect(fetchDocument(`http://127.0.0.1:${port}/large`, {})).rejects.toThrow();
  expect(requests).toHaveLength(2);
});
