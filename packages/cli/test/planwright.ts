import { spawn, spawnSync } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { bundledProgram } from "@planwright/testing";
import { type ProgramHost, runProgram } from "../src/run-program.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
// Asked for at the top, because making it may take longer than a test may on a busy machine.
const PROGRAM = join(bundledProgram(), "bin/planwright.js");
const TERMINAL = new URL("./pretend-terminal.mjs", import.meta.url).href;
const TURBO = join(ROOT, "node_modules/.bin/turbo");

/** The result of a process. */
export interface Ran {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

/** The running program. */
export interface Running {
  ended: Promise<Ran>;
  /** Resolves once it has printed this. */
  said(part: string): Promise<void>;
  /** Everything printed so far. */
  printed(): string;
  kill(signal: "SIGINT" | "SIGTERM"): void;
}

/** The program as a running process. */
export interface RunningProcess extends Running {
  /** Writes to its standard input. */
  type(keys: string): void;
}

/** Builds packages and programs: a stack checks its settings with a program. A current build takes a moment. */
export function build(): void {
  const done = spawnSync(TURBO, ["run", "build", "bundle"], { cwd: ROOT, encoding: "utf8" });
  if (done.status !== 0) throw new TypeError(`${done.stdout}\n${done.stderr}`);
}

/** The environment of a user without any settings. */
export function cleanEnv(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env;
  return { PATH, HOME, ...more };
}

/** Options of a start of the program. */
export interface StartOptions {
  env?: NodeJS.ProcessEnv;
  /** All of its standard input. */
  input?: string;
}

/**
 * Starts the program in the process of the test, which takes a tenth of the processor time of a process of its own;
 * for tests whose subject is not the process.
 */
export function start(args: readonly string[], { env = {}, input = "" }: StartOptions = {}): Running {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const signals = new EventEmitter();
  const host: ProgramHost = {
    env: cleanEnv(env),
    stdin: Readable.from([Buffer.from(input)]),
    stdout,
    stderr,
    exitCode: 0,
    on: (signal, listener) => signals.on(signal, listener),
    exit(code) {
      throw new TypeError(`The program ended the process with ${code}`);
    },
  };
  // The library of commands reads its variables from the process, before the first `await`.
  const before = { ...process.env };
  Object.assign(process.env, env);
  const running = runProgram(args, { version: "0.0.0", host });
  for (const name of Object.keys(env)) {
    if (before[name] === undefined) delete process.env[name];
    else process.env[name] = before[name];
  }
  const exit = running.then(() => {
    stdout.end();
    stderr.end();
    return Number(host.exitCode);
  });
  return follow({ stdout, stderr, exit, kill: (signal) => void signals.emit(signal) });
}

/**
 * Starts the program as a process.
 * @param options - with `isTerminal` it takes its pipes for a terminal; with `isErrorClosed` nothing reads its errors
 */
export function startProcess(
  args: readonly string[],
  {
    env = {},
    isTerminal = false,
    isErrorClosed = false,
  }: { env?: NodeJS.ProcessEnv; isTerminal?: boolean; isErrorClosed?: boolean } = {},
): RunningProcess {
  const before = isTerminal ? ["--import", TERMINAL] : [];
  const child = spawn(process.execPath, [...before, PROGRAM, ...args], { env: cleanEnv(env) });
  const { stdin, stdout, stderr } = child;
  if (!isTerminal) stdin.end();
  if (isErrorClosed) stderr.destroy();
  const exit = once(child, "close").then(([exitCode]) => exitCode);
  const errors = isErrorClosed ? Readable.from([]) : stderr;
  const running = follow({ stdout, stderr: errors, exit, kill: (signal) => void child.kill(signal) });
  return { ...running, type: (keys) => void stdin.write(keys) };
}

/** Reads what a program prints. */
function follow({
  stdout,
  stderr,
  exit,
  kill,
}: {
  stdout: Readable;
  stderr: Readable;
  exit: Promise<number | null>;
  kill: Running["kill"];
}): Running {
  let output = "";
  stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  const texts = Promise.all([text(stdout), text(stderr)]);
  const ended = (async () => {
    const exitCode = await exit;
    const [printed, noted] = await texts;
    return { exitCode, stdout: printed, stderr: noted };
  })();
  return {
    ended,
    async said(part) {
      while (!output.includes(part)) {
        const hasEnded = await Promise.race([once(stdout, "data"), ended.then(() => "ended")]);
        if (hasEnded === "ended" && !output.includes(part)) {
          throw new TypeError(`It ended without printing ${part}: ${JSON.stringify(await ended)}`);
        }
      }
    },
    printed: () => output,
    kill,
  };
}

/**
 * `planwright` of a shell: it passes its words and its input to the process of the test, and prints what that
 * answers. The shell reads quotes, variables and redirections as for the program.
 */
const IN_SHELL = `planwright() {
  local status errors
  exec 9<>/dev/tcp/127.0.0.1/$PROGRAM_PORT
  printf '%s\\0' "$#" "$@" "$(cat)" >&9
  IFS= read -r -d '' status <&9
  IFS= read -r -d '' errors <&9
  cat <&9
  exec 9>&-
  printf '%s' "$errors" >&2
  return "$status"
}
`;

/**
 * Runs a line in a shell that knows `planwright`, which runs in the process of the test: a process of its own takes
 * ten times the processor time. Files are read and written in the working directory of the test.
 */
export async function shell(line: string, env: NodeJS.ProcessEnv): Promise<Ran> {
  const server = createServer((socket) => void answerShell(socket, env)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const child = spawn("bash", ["-c", IN_SHELL + line], {
    env: cleanEnv({ ...env, PROGRAM_PORT: String(port) }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  server.close();
  return { exitCode, stdout, stderr };
}

/** Runs what a shell asks for: the number of words, the words, the input; each ends with a zero byte. */
async function answerShell(socket: Socket, env: NodeJS.ProcessEnv): Promise<void> {
  let asked = "";
  for await (const part of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    asked += part.toString("latin1");
    const parts = asked.split("\0");
    if (parts.length >= Number(parts[0]) + 3) break;
  }
  const [count, ...words] = Buffer.from(asked, "latin1").toString().split("\0");
  const args = words.slice(0, Number(count));
  const ran = await planwright(args, { env, input: words[Number(count)] ?? "" });
  socket.end(`${ran.exitCode}\0${ran.stderr}\0${ran.stdout}`);
}

/** Runs the program to its end, in the process of the test. */
export function planwright(args: readonly string[], options?: StartOptions): Promise<Ran> {
  return start(args, options).ended;
}
