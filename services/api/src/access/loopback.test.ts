import { expect, test } from "vitest";
import { isLoopback, isLoopbackHost } from "./gate.ts";

test.each(["127.0.0.1", "127.9.9.9", "::1", "[::1]", "localhost", "LOCALHOST"])("%s is loopback", (host) => {
  expect(isLoopback(host)).toBe(true);
});

test.each(["0.0.0.0", "::", "10.0.0.1", "localhost.example.org", "127.0.0.1.example.org", "api", ""])(
  "%s is not loopback",
  (host) => {
    expect(isLoopback(host)).toBe(false);
  },
);

test.each([
  ["127.0.0.1:4000", true],
  ["[::1]:4000", true],
  ["localhost", true],
  ["localhost:", true],
  ["user@localhost", false],
  ["evil@127.0.0.1", false],
  ["evil:1@127.0.0.1:4000", false],
  ["127.0.0.1/evil", false],
  ["127.0.0.1:4000/evil", false],
  ["127.0.0.1?evil", false],
  ["127.0.0.1#evil", false],
  ["127.0.0.1\\evil", false],
  ["127.0.0.1 evil", false],
  ["localhost,evil.example.org", false],
  ["localhost:4000@evil.example.org", false],
  ["evil.example.org:4000", false],
  ["", false],
  [undefined, false],
])("the Host header %s names this machine: %s", (header, expected) => {
  expect(isLoopbackHost(header)).toBe(expected);
});
