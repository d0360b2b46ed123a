import { createLogger } from "@planwright/runtime";
import type { ToolServerReport } from "@planwright/store";
import type { ServerStatus } from "@planwright/tools";
import { expect, test } from "vitest";
import { createServerPublisher } from "./tool-servers.ts";

const status: ServerStatus = { server: "shop", state: "waiting", tools: 0, since: 5, error: "why" };

async function published(more: Partial<ServerStatus>): Promise<ToolServerReport | undefined> {
  const reports: ToolServerReport[] = [];
  const publisher = createServerPublisher({
    store: { publishServer: async (report) => void reports.push(report) },
    executor: "e",
    logger: createLogger({ service: "test", level: "silent" }),
  });
  publisher.publish({ ...status, ...more });
  await expect.poll(() => reports.length).toBe(1);
  return reports[0];
}

test.each([
  ["connected", { state: "connected", error: undefined }],
  ["connecting", { state: "connecting", error: undefined }],
  ["unreachable", { state: "connecting" }],
  ["unreachable", { state: "waiting", nextAttemptAt: 9 }],
] as const)("a server is %s with %j", async (state, more) => {
  expect(await published(more)).toMatchObject({ state, since: new Date(5), executor: "e" });
});

test("the tail of stderr is published without credentials", async () => {
  const stderrTail = "password=abc at mongodb://ann:pw@host/db\ncannot open /data/shop in production";
  expect((await published({ stderrTail }))?.stderrTail).toBe(
    "password=[redacted] at mongodb://[redacted]@host/db\ncannot open /data/shop in production",
  );
});
