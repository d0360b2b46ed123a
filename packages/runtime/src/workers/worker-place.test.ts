import { expect, test } from "vitest";
import { workerPlace } from "./worker-place.ts";

test("a place is one address of one network of one boot", () => {
  const facts = { boot: "b1", network: "net:[1]" };
  const place = workerPlace("http://127.0.0.1:4012/", () => facts);
  expect(place).toBe(workerPlace("http://127.0.0.1:4012", () => facts));
  const others = [
    workerPlace("http://127.0.0.1:4013", () => facts),
    workerPlace("http://0.0.0.0:4012", () => facts),
    workerPlace("http://127.0.0.1:4012", () => ({ ...facts, boot: "b2" })),
    workerPlace("http://127.0.0.1:4012", () => ({ ...facts, network: "net:[2]" })),
  ];
  expect(new Set([place, ...others]).size).toBe(5);
});

test("there is none where the system does not tell, and the same one each time where it does", () => {
  expect(workerPlace("http://127.0.0.1:1", () => null)).toBeNull();
  expect(workerPlace("http://127.0.0.1:1")).toBe(workerPlace("http://127.0.0.1:1"));
});
