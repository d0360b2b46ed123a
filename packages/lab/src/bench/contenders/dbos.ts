import { freePort } from "@planwright/local";
import type { Contender } from "./contender.ts";
import { PEER_PACKAGES } from "./install-peers.ts";
import { createPeerClient, type PeerOptions, startPeerService } from "./peer-process.ts";
import { startPostgres } from "./postgres.ts";

const NAME = "DBOS";

/**
 * One process with DBOS and our HTTP server, which answers at the end of the workflow. DBOS has a separate
 * PostgreSQL.
 */
export async function startDbos(options: PeerOptions): Promise<Contender> {
  const postgres = await startPostgres(options);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const service = await startPeerService("dbos-service.ts", {
    ...options,
    port,
    env: { DATABASE_URL: postgres.url },
  });
  await service.ready(async () => (await fetch(url)).ok, 60_000);
  const client = createPeerClient(NAME, url, options.clients);
  return {
    name: NAME,
    versions: { version: PEER_PACKAGES["@dbos-inc/dbos-sdk"], PostgreSQL: postgres.version },
    steps: "in process",
    end: "the answer",
    processes: [
      ["dbos-service", "service"],
      ["postgres", "postgres"],
    ],
    runPlan: () => client.runPlan(),
    async close() {
      client.close();
      await service.kill();
      await postgres.child.kill();
    },
  };
}
