import { createLogger } from "@planwright/runtime";
import type { ToolServerWord } from "@planwright/store";
import { parseServers, type ServerStatus } from "@planwright/tools";
import { expect, test } from "vitest";
import { createServerPublisher } from "./server-publisher.ts";

const { mcpServers } = parseServers({
  mcpServers: {
    shop: {
      command: "shop",
      env: {
        SHOP_TOKEN: "hunter22hunter",
        PAT: "x9f8e7d6c5b4a3f2e1",
        DATA: "/data/shop",
        NODE_ENV: "production",
      },
    },
  },
});
const status: ServerStatus = { server: "shop", state: "waiting", tools: 0, since: 5, error: "why" };

async function published(more: Partial<ServerStatus>): Promise<ToolServerWord | undefined> {
  const words: ToolServerWord[] = [];
  const publisher = createServerPublisher({
    store: { publishServer: async (word) => void words.push(word) },
    servers: mcpServers,
    mask: { text: (text) => text.replaceAll("sent by a plan", "[redacted]") },
    executor: "e",
    logger: createLogger({ service: "test", level: "silent" }),
  });
  publisher.publish({ ...status, ...more });
  await expect.poll(() => words.length).toBe(1);
  return words[0];
}

test.each([
  ["connected", { state: "connected", error: undefined }],
  ["connecting", { state: "connecting", error: undefined }],
  ["unreachable", { state: "connecting" }],
  ["unreachable", { state: "waiting", nextAttemptAt: 9 }],
] as const)("a server is %s with %j", async (state, more) => {
  expect(await published(more)).toMatchObject({ state, since: new Date(5), executor: "e" });
});

test("last words are without what the servers file gives as a secret, what plans sent, and what has the form of a credential", async () => {
  const lastWords = [
    "no licence for hunter22hunter, x9f8e7d6c5b4a3f2e1, sent by a plan",
    "password=abc at mongodb://ann:pw@host/db",
    "cannot open /data/shop in production",
  ].join("\n");
  expect((await published({ lastWords }))?.lastWords).toBe(
    [
      "no licence for [redacted], [redacted], [redacted]",
      "password=[redacted] at mongodb://[redacted]@host/db",
      "cannot open /data/shop in production",
    ].join("\n"),
  );
});
