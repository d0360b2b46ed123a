import { join } from "node:path";
import { startChild } from "../children/child.ts";
import { freePort } from "../children/free-port.ts";
import type { LocalServer, ServerOptions } from "../local-server.ts";
import { externalServer, localServer } from "../local-server.ts";
import { makeFolder } from "../make-folder.ts";
import { findMongod } from "./find-mongod.ts";
import { becomePrimary, REPLICA_SET, requireReplicaSet } from "./replica-set.ts";

const NAME = "MongoDB";

/**
 * Starts a MongoDB as a replica set of one, for change streams and majority writes. `MONGODB_URL` in the
 * environment names a server to use instead. Data is in `dataDir/mongo`, the log in `dataDir/logs/mongo.log`.
 * @throws {ServerNotAvailableError} no binary; {ServerNotSuitableError} for MONGODB_URL;
 * {ProcessNotReadyError}
 */
export async function startMongo(options: ServerOptions): Promise<LocalServer> {
  const { dataDir, env = process.env, say = () => undefined } = options;
  const external = env["MONGODB_URL"];
  if (external !== undefined && external !== "") {
    await requireReplicaSet(external);
    return externalServer(NAME, external);
  }
  const mongod = await findMongod(say);
  const dbPath = join(dataDir, "mongo");
  makeFolder(dbPath);
  return localServer({
    name: NAME,
    ...options.supervision,
    choosePort: freePort,
    urlOf: (port) => `mongodb://127.0.0.1:${port}/?replicaSet=${REPLICA_SET}`,
    spawn: (port) =>
      startChild({
        name: NAME,
        command: mongod.command,
        args: mongodArguments(dbPath, port),
        env: mongod.libraryPath === undefined ? env : { ...env, LD_LIBRARY_PATH: mongod.libraryPath },
        logFile: join(dataDir, "logs", "mongo.log"),
      }),
    isReady: becomePrimary,
  });
}

/** A small cache, because several stacks share a laptop; everything else as in production. */
function mongodArguments(dbPath: string, port: number): string[] {
  return [
    ["--dbpath", dbPath],
    ["--port", String(port)],
    ["--bind_ip", "127.0.0.1"],
    ["--replSet", REPLICA_SET],
    ["--wiredTigerCacheSizeGB", "0.5"],
    ["--oplogSize", "256"],
    // Each collection and index is an open file until it was idle for this long, and a test run makes
    // hundreds of databases. With the default of ten minutes a long run reaches the limit of open files, and
    // the server crashes.
    [
      "--wiredTigerEngineConfigString",
      "file_manager=(close_idle_time=30,close_scan_interval=5,close_handle_minimum=500)",
    ],
    ["--setParameter", "diagnosticDataCollectionEnabled=false"],
    ["--setParameter", "shutdownTimeoutMillisForSignaledShutdown=100"],
    ["--nounixsocket"],
  ].flat();
}
