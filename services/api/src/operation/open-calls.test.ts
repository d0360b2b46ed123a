import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { createOpenCalls } from "./context.ts";

test("the signal of a call is aborted when its response closes, and no other signal is", () => {
  const calls = createOpenCalls();
  const response = new EventEmitter();
  const signal = calls.begin(response);
  const other = calls.begin(new EventEmitter());
  response.emit("close");
  expect([signal.aborted, other.aborted]).toEqual([true, false]);
});

test("endAll aborts running and later calls", () => {
  const calls = createOpenCalls();
  const before = calls.begin(new EventEmitter());
  calls.endAll();
  expect([before.aborted, calls.begin(new EventEmitter()).aborted]).toEqual([true, true]);
});
