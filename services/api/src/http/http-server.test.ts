import { expect, test } from "vitest";
import { createHttpServer } from "./http-server.ts";

test("headers may take 10 s and complete requests 30 s, unless a shorter timeout is set", () => {
  expect(createHttpServer()).toMatchObject({ headersTimeout: 10_000, requestTimeout: 30_000 });
  const short = createHttpServer({ requestTimeoutMs: 2_000 });
  expect(short).toMatchObject({ headersTimeout: 2_000, requestTimeout: 2_000 });
});
