import { expect, test } from "vitest";
import { workerAddressKey } from "./worker-address-key.ts";

test("a place is one address of one network of one boot", () => {
  const facts = { boot: "b1", network: "net:[1]" };
  const place = workerAddressKey("http://127.0.0.1:4012/", () => facts);
  expect(place).toBe(workerAddressKey("http://127.0.0.1:4012", () => facts));
  const others = [
    workerAddressKey("http://127.0.0.1:4013", () => facts),
    workerAddressKey("http://0.0.0.0:4012", () => facts),
    workerAddressKey("http://127.0.0.1:4012", () => ({ ...facts, boot: "b2" })),
    workerAddressKey("http://127.0.0.1:4012", () => ({ ...facts, network: "net:[2]" })),
  ];
  expect(new Set([place, ...others]).size).toBe(5);
});

test("there is none where the system does not tell, and the same one each time where it does", () => {
  expect(workerAddressKey("http://127.0.0.1:1", () => null)).toBeNull();
  expect(workerAddressKey("http://127.0.0.1:1")).toBe(workerAddressKey("http://127.0.0.1:1"));
});
