import { EventEmitter, once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
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

test("a client that left before its call began, while its key was looked up, has an aborted signal", async () => {
  const calls = createOpenCalls();
  let began: (signal: AbortSignal) => void = () => undefined;
  const signal = new Promise<AbortSignal>((resolve) => {
    began = resolve;
  });
  const server = createServer((_request, response) => {
    response.once("close", () => setImmediate(() => began(calls.begin(response))));
    client.destroy();
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const client = request({ port: (server.address() as AddressInfo).port, host: "127.0.0.1" });
  client.on("error", () => undefined).end();
  expect((await signal).aborted).toBe(true);
});
