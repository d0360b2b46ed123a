import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { delimiter, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { bundledProgram } from "@planwright/testing";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const PACKAGE = bundledProgram();
const PROGRAM = join(PACKAGE, "bin/planwright.js");
const TERMINAL = new URL("./pretend-terminal.mjs", import.meta.url).href;
/** The folder of `planwright` for the PATH. */
const BIN = join(PACKAGE, ".bin");
const TURBO = join(ROOT, "node_modules/.bin/turbo");

/** The result of a process. */
export interface Ran {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

/** The program as a running process. */
export interface Running {
  ended: Promise<Ran>;
  /** Resolves once it has printed this. */
  said(part: string): Promise<void>;
  /** Everything printed so far. */
  printed(): string;
  /** Writes to its standard input. */
  type(keys: string): void;
  kill(signal: NodeJS.Signals): void;
}

/** Builds everything: a stack checks its settings with built programs. A current build takes a moment. */
export function build(): void {
  const done = spawnSync(TURBO, ["run", "build"], { cwd: ROOT, encoding: "utf8" });
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
  /** True pretends that it runs on a terminal, where a user can type. */
  isTerminal?: boolean;
}

/** Starts the program. */
export function start(
  args: readonly string[],
  { env = {}, input = "", isTerminal = false }: StartOptions = {},
): Running {
  const before = isTerminal ? ["--import", TERMINAL] : [];
  const child = spawn(process.execPath, [...before, PROGRAM, ...args], { env: cleanEnv(env) });
  if (!isTerminal) child.stdin.end(input);
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  const stdout = text(child.stdout);
  const stderr = text(child.stderr);
  const ended = (async () => {
    const [exitCode] = await once(child, "close");
    return { exitCode, stdout: await stdout, stderr: await stderr };
  })();
  return {
    ended,
    async said(part) {
      while (!output.includes(part)) {
        const hasEnded = await Promise.race([once(child.stdout, "data"), ended.then(() => "ended")]);
        if (hasEnded === "ended" && !output.includes(part)) {
          throw new TypeError(`It ended without printing ${part}: ${JSON.stringify(await ended)}`);
        }
      }
    },
    printed: () => output,
    type: (keys) => void child.stdin.write(keys),
    kill: (signal) => void child.kill(signal),
  };
}

/** Runs a line in a shell with `planwright` on its PATH. */
export async function shell(
  line: string,
  { env, folder }: { env: NodeJS.ProcessEnv; folder: string },
): Promise<Ran> {
  const child = spawn("bash", ["-c", line], {
    cwd: folder,
    env: cleanEnv({ ...env, PATH: `${BIN}${delimiter}${process.env["PATH"]}` }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  return { exitCode, stdout, stderr };
}

/** Runs the program to its end. */
export function planwright(args: readonly string[], options?: StartOptions): Promise<Ran> {
  return start(args, options).ended;
}
