import { once } from "node:events";
import { connect, createServer } from "node:net";
import { MongoBulkWriteError, MongoClientBulkWriteError, MongoNetworkError, MongoServerError } from "mongodb";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { isDuplicateKey, isTimeLimit, isTransient } from "./transient-errors.ts";

const server = (code: number, errorLabels: string[] = []) =>
  new MongoServerError({ message: "no", code, errorLabels });

describe("transient errors", () => {
  test.each([
    ["a lost connection", new MongoNetworkError("read ECONNRESET")],
    ["a server that shuts down", server(11_600)],
    ["a server that is no longer primary", server(10_107)],
    ["a transaction that took too long, reported by its commit", server(290)],
    ["a transaction that has to be started again", server(251, ["TransientTransactionError"])],
    ["several servers, one of them lost", new AggregateError([new MongoNetworkError("x")])],
    [
      "an error with a lost connection as its cause",
      new TypeError("x", { cause: new MongoNetworkError("x") }),
    ],
    [
      "a write concern that was not met in time",
      Object.assign(new Error("x"), { writeConcernErrors: [{ code: 1 }] }),
    ],
  ])("%s", (_, error) => {
    expect(isTransient(error)).toBe(true);
  });

  test("a socket that the server ended while the driver wrote to it, as Node reports it", async () => {
    const listening = createServer((socket) => socket.end()).listen(0, "127.0.0.1");
    onTestFinished(() => void listening.close());
    await once(listening, "listening");
    const { port } = z.object({ port: z.number() }).parse(listening.address());
    const socket = connect({ port, host: "127.0.0.1" }).resume();
    await once(socket, "end");
    socket.write("x");
    const [error] = await once(socket, "error");
    expect(error).toMatchObject({ code: "EPIPE" });
    expect(isTransient(error)).toBe(true);
  });

  test("a bulk write whose connection was lost", () => {
    const error = new MongoBulkWriteError(new MongoNetworkError("gone"), Object.create(null));
    expect(isTransient(error)).toBe(true);
  });
});

/** A bulk over several collections, of which one write failed. */
function bulkOf(code: number): MongoClientBulkWriteError {
  const error = new MongoClientBulkWriteError({ message: "a write failed" });
  error.writeErrors.set(1, { code, message: "no" });
  return error;
}

test("a bulk over several collections whose server stopped to be primary between two writes is transient", () => {
  expect([10_107, 189, 11_000, 10_334].map((code) => isTransient(bulkOf(code)))).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect([50, 11_000].map((code) => isTimeLimit(bulkOf(code)))).toEqual([true, false]);
});

test.each([
  ["a duplicate key", server(11_000)],
  ["a document that is too large", server(10_334)],
  ["anything else", new TypeError("x")],
  ["no error", "x"],
])("%s is not transient", (_, error) => {
  expect(isTransient(error)).toBe(false);
});

test("a duplicate key is distinguished from other refusals", () => {
  expect(isDuplicateKey(server(11_000))).toBe(true);
  expect(isDuplicateKey(server(10_334))).toBe(false);
});
