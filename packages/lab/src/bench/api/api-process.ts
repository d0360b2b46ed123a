import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { CodedError } from "@planwright/plan";

const MAIN = fileURLToPath(new URL("../../../../../services/api/dist/main.js", import.meta.url));

/** The service did not come up; what it said stands above. */
export class ApiNotStartedError extends CodedError {
  readonly code = "API_NOT_STARTED";
  readonly retryable = false;
  constructor() {
    super("The API did not come up, for the reason above", {});
  }
}

/** The service as it is deployed: its build, in a process of its own, on a free port. */
export interface ApiProcess {
  /** Such as http://127.0.0.1:41234/graphql. */
  url: string;
  pid: number;
  /** True once the process is gone, for whatever reason. */
  hasEnded(): boolean;
  stop(): Promise<void>;
}

/** Starts the build of the service, which `npm run bench` has made current. @throws {ApiNotStartedError} */
export async function startApiProcess(env: Record<string, string>): Promise<ApiProcess> {
  const child = spawn(process.execPath, ["--max-semi-space-size=32", MAIN], {
    env: { PATH: process.env["PATH"] ?? "", PORT: "0", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exit = once(child, "exit");
  return {
    url: await addressOf(child),
    pid: child.pid ?? 0,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    async stop() {
      child.kill("SIGTERM");
      await exit;
    },
  };
}

async function addressOf({ stdout }: ChildProcess): Promise<string> {
  if (!stdout) throw new ApiNotStartedError();
  for await (const line of createInterface({ input: stdout })) {
    const address = /"url":"([^"]+)","msg":"api ready"/.exec(line)?.[1];
    if (address === undefined) continue;
    stdout.resume();
    return address;
  }
  throw new ApiNotStartedError();
}
