/** The first request of a new system: no tools are known yet, and the request still completes. */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient, graphql } from "@planwright/client";
import { bundledServices, testAndProof, testServers } from "@planwright/testing";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { freePort } from "../src/index.ts";
import { type ServiceName, startService } from "../src/start-service.ts";
import { writeMcpServersFile } from "../src/start-stack.ts";

/** Each is a race of three starts. */
const ROUNDS = Array.from({ length: 8 }, (_, round) => String(round + 1));
const folder = mkdtempSync(join(tmpdir(), "planwright-first-request-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const { mongodbUrl, redisUrl } = testServers();
/** Each round starts three services; bundled ones start in a fraction of the time. */
const bundles = bundledServices("api", "planner", "executor", "blog-tools", "planwright");
const withDatabase = (name: string) => {
  const url = new URL(mongodbUrl);
  url.pathname = `/${name}`;
  return url.href;
};

async function start(name: ServiceName, env: NodeJS.ProcessEnv, portName: "PORT" | "HEALTH_PORT") {
  const port = await freePort();
  const service = await startService({
    name,
    env: { PATH: process.env["PATH"], HOST: "127.0.0.1", ...env, [portName]: String(port) },
    readyUrls: [`http://127.0.0.1:${port}/readyz`],
    logFile: join(folder, `${name}.log`),
    main: bundles[name],
  });
  return { port, kill: () => service.kill() };
}

let toolsPort: number;
let killTools: () => Promise<void>;
beforeAll(async () => {
  const tools = await start("blog-tools", { MONGODB_URL: withDatabase(`first_${randomUUID()}`) }, "PORT");
  toolsPort = tools.port;
  killTools = tools.kill;
});
afterAll(() => killTools());

const CREATE = graphql(`mutation ($query: String!) { createPlan(query: $query) { requestId } }`);
const READ = graphql(`query ($requestId: ID!) { request(requestId: $requestId) { status error { code } } }`);

for (const { cases, options } of testAndProof(ROUNDS, (round) => round, ["1"])) {
  const { tags = [] } = options;
  test.each(cases)(
    "a request right after the API is ready for the first time completes (%s)",
    { tags, timeout: 90_000 },
    async (round) => {
      const serversFile = join(folder, `servers-${round}.json`);
      writeMcpServersFile(serversFile, `http://127.0.0.1:${toolsPort}/mcp`, undefined);
      const shared = {
        MONGODB_URL: withDatabase(`first_${randomUUID()}`),
        REDIS_URL: redisUrl,
        QUEUE_PREFIX: `first-${randomUUID()}`,
        MCP_SERVERS_FILE: serversFile,
      };
      const executor = start("executor", shared, "HEALTH_PORT");
      const planner = start("planner", shared, "HEALTH_PORT");
      onTestFinished(async () => {
        for (const one of await Promise.all([executor, planner])) await one.kill();
      });
      const api = await start("api", shared, "PORT");
      onTestFinished(() => api.kill());
      const url = `http://127.0.0.1:${api.port}/graphql`;
      const query = `Create author Zoe with email zoe${round}@post.org`;
      const client = createClient({ url });
      const { createPlan } = await client.execute(CREATE, { query });
      await expect
        .poll(() => client.readRequest(READ, createPlan.requestId), { timeout: 60_000, interval: 100 })
        .toEqual({ status: "COMPLETED", error: null });
      const ready = async () =>
        z.json().parse(await (await fetch(`http://127.0.0.1:${api.port}/readyz`)).json());
      await expect.poll(ready, { timeout: 10_000 }).toMatchObject({ status: "ready", missing: [] });
    },
  );
}
