import { expect, test } from "vitest";
import { workerAddressKey } from "./start-heartbeat.ts";

test("a key is for one address of one network of one boot", () => {
  const facts = { boot: "b1", network: "net:[1]" };
  const key = workerAddressKey("http://127.0.0.1:4012/", () => facts);
  expect(key).toBe(workerAddressKey("http://127.0.0.1:4012", () => facts));
  const others = [
    workerAddressKey("http://127.0.0.1:4013", () => facts),
    workerAddressKey("http://0.0.0.0:4012", () => facts),
    workerAddressKey("http://127.0.0.1:4012", () => ({ ...facts, boot: "b2" })),
    workerAddressKey("http://127.0.0.1:4012", () => ({ ...facts, network: "net:[2]" })),
  ];
  expect(new Set([key, ...others]).size).toBe(5);
});

test("there is no key without system facts, and always the same one with them", () => {
  expect(workerAddressKey("http://127.0.0.1:1", () => null)).toBeNull();
  expect(workerAddressKey("http://127.0.0.1:1")).toBe(workerAddressKey("http://127.0.0.1:1"));
});
