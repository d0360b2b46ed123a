import type { ServerContext } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { createMailbox, type RequestSnapshot } from "../feeds/request-feed.ts";
import type { GraphqlContext } from "../operation/context.ts";
import { createFacadeTools } from "./facade-tools.ts";

test("a client that left while its request was stored holds no place", async () => {
  const left = new AbortController();
  let places = 0;
  // The part of a context that this call uses.
  const context = {
    tenant: "t1",
    modelLimits: { maxModelCalls: null, maxTokens: null, maxCostUsd: null },
    store: {
      async createRequest() {
        left.abort();
        return { _id: "req_1", status: "READY" };
      },
    },
    feeds: {
      async follow() {
        places += 1;
        return createMailbox<RequestSnapshot>(() => {
          places -= 1;
        });
      },
    },
  } as unknown as GraphqlContext;
  const call = { mcpReq: { signal: left.signal } } as unknown as ServerContext;
  const credentials = { follow: () => () => undefined };
  const tools = createFacadeTools({ waitMs: 2_000, credentials });
  const startedAt = performance.now();
  await tools.get("create_plan")?.call(context, { query: "Create a blog" }, call);
  expect(performance.now() - startedAt).toBeLessThan(1_000);
  expect(places).toBe(0);
});
