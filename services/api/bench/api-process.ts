import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { CodedError } from "@planwright/plan";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const MAIN = fileURLToPath(new URL("../dist/main.js", import.meta.url));

/** The service could not be built or did not come up; what it said stands above. */
export class ApiNotStartedError extends CodedError<{ at: string }> {
  readonly code = "API_NOT_STARTED";
  readonly retryable = false;
  constructor(at: string) {
    super(`The API did not come up: ${at} failed, for the reason above`, { at });
  }
}

/** The service as it is deployed: its build, in a process of its own, on a free port. */
export interface ApiProcess {
  /** Such as http://127.0.0.1:41234/graphql. */
  url: string;
  stop(): Promise<void>;
}

/** Builds the service, which is a matter of a moment when nothing changed, and starts it. @throws {ApiNotStartedError} */
export async function startApiProcess(env: Record<string, string>): Promise<ApiProcess> {
  const turbo = `${ROOT}node_modules/.bin/turbo`;
  const built = spawnSync(turbo, ["run", "build", "--filter=@planwright/api", "--output-logs=errors-only"], {
    cwd: ROOT,
    stdio: ["ignore", 2, 2],
  });
  if (built.status !== 0) throw new ApiNotStartedError("its build");
  const child = spawn(process.execPath, ["--max-semi-space-size=32", MAIN], {
    env: { PATH: process.env["PATH"] ?? "", PORT: "0", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exit = once(child, "exit");
  return {
    url: await addressOf(child),
    async stop() {
      child.kill("SIGTERM");
      await exit;
    },
  };
}

async function addressOf({ stdout }: ChildProcess): Promise<string> {
  if (!stdout) throw new ApiNotStartedError("its start");
  for await (const line of createInterface({ input: stdout })) {
    const address = /"url":"([^"]+)","msg":"api ready"/.exec(line)?.[1];
    if (address === undefined) continue;
    stdout.resume();
    return address;
  }
  throw new ApiNotStartedError("its start");
}
