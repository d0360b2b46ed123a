/** Servers that are still starting when the executor is ready, such as those that `npx` installs first. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { createClient, graphql } from "@planwright/client";
import { bundledServices } from "@planwright/testing";
import { expect, onTestFinished, test } from "vitest";
import { startStack } from "../src/index.ts";

const everything = createRequire(import.meta.url).resolve(
  "@modelcontextprotocol/server-everything/package.json",
);
const EVERYTHING = pathToFileURL(join(dirname(everything), "dist", "index.js")).href;
const runs = (script: string) => ({ command: process.execPath, args: ["-e", script] });
/** Starts later than an executor waits for servers before it is ready. */
const slow = runs(`setTimeout(() => import(${JSON.stringify(EVERYTHING)}), 7_000)`);
const silent = runs("setInterval(() => {}, 1_000)");

/** Starts a system with these servers. Returns its messages, and the servers whose tools are known then. */
async function started(mcpServers: object, serversTimeoutMs?: number) {
  const folder = mkdtempSync(join(tmpdir(), "planwright-slow-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const serversFile = join(folder, "mine.json");
  writeFileSync(serversFile, JSON.stringify({ mcpServers }));
  const messages: string[] = [];
  const stack = await startStack({
    dataDir: join(folder, "data"),
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], MCP_SERVERS_FILE: serversFile },
    say: (line) => void messages.push(line),
    mains: bundledServices("api", "planner", "executor", "blog-tools"),
    ...(serversTimeoutMs !== undefined && { serversTimeoutMs }),
  });
  onTestFinished(() => stack.kill());
  const query = graphql(`{ getAvailableTools { server } }`);
  const { getAvailableTools } = await createClient({ url: stack.apiUrl }).execute(query, {});
  return { messages, servers: [...new Set(getAvailableTools.map(({ server }) => server))].toSorted() };
}

test("with time for it, a system that has started knows the tools of every server that can be reached", async () => {
  const mcpServers = {
    slow,
    shop: { command: "/no/such/command" },
    unused: { ...silent, disabled: true },
    off: { ...silent, enabled: false },
  };
  const { messages, servers } = await started(mcpServers, 60_000);
  expect(servers).toEqual(["blog", "slow"]);
  expect(messages.join("\n")).not.toContain("No tools yet");
});

test("a server that takes longer than 5 s is named, and the start continues", async () => {
  const { messages, servers } = await started({ silent, shop: { command: "/no/such/command" } });
  expect(servers).toEqual(["blog"]);
  expect(messages).toContain("No tools yet of: silent. Plans can use them as soon as they are published.");
});
