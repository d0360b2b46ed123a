import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createHttpServer, cutWhenSlow } from "./http-server.ts";

test("headers may take 10 s and complete requests 30 s, unless a shorter timeout is set", () => {
  expect(createHttpServer()).toMatchObject({ headersTimeout: 10_000, requestTimeout: 30_000 });
  const short = createHttpServer({ requestTimeoutMs: 2_000 });
  expect(short).toMatchObject({ headersTimeout: 2_000, requestTimeout: 2_000 });
});

test("an answer that is read, but more slowly than its size allows, is cut off", async () => {
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-length": "32000" });
    cutWhenSlow(response, { timeoutMs: 200, sizeBytes: 32_000 });
    // Each byte is progress.
    const writing = setInterval(() => response.write("x"), 20);
    response.once("close", () => clearInterval(writing));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const startedAt = performance.now();
  const answer = await fetch(`http://127.0.0.1:${port}`);
  await expect(answer.text()).rejects.toThrow("terminated");
  // 200 ms, and 250 ms for the bytes.
  expect(performance.now() - startedAt).toBeGreaterThan(440);
});
