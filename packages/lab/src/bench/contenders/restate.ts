import { join } from "node:path";
import { freePort, startChild } from "@planwright/local";
import type { Contender } from "./contender.ts";
import { PEER_PACKAGES } from "./install-peers.ts";
import { createPeerClient, type PeerOptions, startPeerService } from "./peer-process.ts";

const NAME = "Restate";

/**
 * One Restate server with its default settings, and a service with the steps. A client posts to the ingress
 * of the server, which answers at the end.
 */
export async function startRestate(options: PeerOptions): Promise<Contender> {
  const { dataDir, clients, installed } = options;
  const [ingress, admin, node, port] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const server = await startChild({
    name: NAME,
    command: join(
      installed,
      `node_modules/@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`,
    ),
    args: ["--base-dir", join(dataDir, "restate")],
    env: {
      PATH: process.env["PATH"],
      DO_NOT_TRACK: "1",
      RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
      RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
      RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
    },
    logFile: join(dataDir, "logs", "restate.log"),
  });
  const service = await startPeerService("restate-service.ts", { ...options, port });
  await server.ready(() => register(`http://127.0.0.1:${admin}`, `http://127.0.0.1:${port}`), 60_000);
  const client = createPeerClient(NAME, `http://127.0.0.1:${ingress}/plans/diamond`, clients);
  return {
    name: NAME,
    versions: {
      version: PEER_PACKAGES["@restatedev/restate-server"],
      "Restate SDK": PEER_PACKAGES["@restatedev/restate-sdk"],
    },
    steps: "in process",
    end: "the answer",
    processes: [
      ["restate-server", "restate"],
      ["restate-service", "service"],
    ],
    runPlan: () => client.runPlan(),
    async close() {
      client.close();
      await Promise.all([server.kill(), service.kill()]);
    },
  };
}

/** Registers the service at the server, which calls the service at once. */
async function register(adminUrl: string, serviceUrl: string): Promise<boolean> {
  const answer = await fetch(`${adminUrl}/deployments`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ uri: serviceUrl }),
  });
  await answer.arrayBuffer();
  return answer.ok;
}
