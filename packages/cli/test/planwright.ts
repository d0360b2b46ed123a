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
/** Where `planwright` is found on the PATH. */
const BIN = join(PACKAGE, ".bin");
const TURBO = join(ROOT, "node_modules/.bin/turbo");

/** What a process left behind. */
export interface Ran {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

/** The program as a process of its own. */
export interface Running {
  ended: Promise<Ran>;
  /** Resolves once it has printed this. */
  said(part: string): Promise<void>;
  /** Everything printed so far. */
  printed(): string;
  /** Types on its standard input. */
  type(keys: string): void;
  kill(signal: NodeJS.Signals): void;
}

/** A stack asks programs of the build about its settings. A build that is current takes a moment. */
export function build(): void {
  const done = spawnSync(TURBO, ["run", "build"], { cwd: ROOT, encoding: "utf8" });
  if (done.status !== 0) throw new TypeError(`${done.stdout}\n${done.stderr}`);
}

/** The environment of a user without any settings. */
export function cleanEnv(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env;
  return { PATH, HOME, ...more };
}

/** How the program is started. */
export interface StartOptions {
  env?: NodeJS.ProcessEnv;
  /** The whole of its standard input. */
  input?: string;
  /** As on a terminal, where a user may type. */
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
        const hasEnded = await Promise.race([once(child.stdout, "data"), ended.then(() => "over")]);
        if (hasEnded === "over" && !output.includes(part)) {
          throw new TypeError(`It ended without saying ${part}: ${JSON.stringify(await ended)}`);
        }
      }
    },
    printed: () => output,
    type: (keys) => void child.stdin.write(keys),
    kill: (signal) => void child.kill(signal),
  };
}

/** Types a line into a shell that finds `planwright` on its PATH. */
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
