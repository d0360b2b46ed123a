import { expect, test } from "vitest";
import { reportOnce } from "./connection.ts";

test("reportOnce passes the same message on once in ten seconds, and different ones at once", () => {
  let nowMs = 0;
  const seen: string[] = [];
  const report = reportOnce(
    (error) => void seen.push(String(error)),
    () => nowMs,
  );
  report(new TypeError("away"));
  report(new TypeError("away"));
  report(new TypeError("odd"));
  nowMs = 10_000;
  report(new TypeError("away"));
  expect(seen).toEqual(["TypeError: away", "TypeError: odd", "TypeError: away"]);
});
