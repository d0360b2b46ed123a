import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Child, startChild } from "@planwright/local";
import { createBenchClient } from "../../client/bench-client.ts";
import { PlanNotCompletedError } from "./contender.ts";

/** Options of a peer. */
export interface PeerOptions {
  /** Folder for data and logs. */
  dataDir: string;
  /** Maximum of plans in flight. */
  clients: number;
  /** The folder that {@link installPeers} returns. */
  installed: string;
}

/**
 * Starts a file of this folder as a separate process. PEERS names the folder of the packages, PORT the port.
 */
export function startPeerService(
  file: "restate-service.ts" | "dbos-service.ts",
  { dataDir, installed, port, env }: PeerOptions & { port: number; env?: Record<string, string> },
): Promise<Child> {
  const tsx = createRequire(import.meta.url).resolve("tsx");
  return startChild({
    name: file,
    command: process.execPath,
    args: ["--import", tsx, fileURLToPath(new URL(file, import.meta.url))],
    env: { PATH: process.env["PATH"], PEERS: installed, PORT: String(port), NODE_ENV: "production", ...env },
    logFile: join(dataDir, "logs", `${file}.log`),
  });
}

/** A client that requests a plan by one POST; the answer holds the outputs of its steps. */
export function createPeerClient(
  contender: string,
  url: string,
  clients: number,
): { runPlan(): Promise<void>; close(): void } {
  const client = createBenchClient(url, clients);
  return {
    async runPlan() {
      const answer = await client.send("{}");
      if (!answer.includes('"e":'))
        throw new PlanNotCompletedError({ contender, reason: `it answered ${answer}` });
    },
    close: () => client.close(),
  };
}
