import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { CodedError } from "@planwright/plan";

type ServiceName = "api" | "planner" | "executor";

/** A service did not become ready. Its output says why. */
export class ServiceNotStartedError extends CodedError<{ service: ServiceName }> {
  readonly code = "SERVICE_NOT_STARTED";
  readonly retryable = false;
  constructor(facts: { service: ServiceName }) {
    super(`The service ${facts.service} did not become ready; see its output above`, facts);
  }
}

/** A service as a separate process. */
export interface ServiceProcess {
  pid: number;
  /** URL of the API, such as http://127.0.0.1:41234/graphql; "" for other services. */
  url: string;
  /** True after the process has ended for any reason. */
  hasEnded(): boolean;
  /** Default: SIGTERM. */
  stop(signal?: "SIGTERM" | "SIGKILL"): Promise<void>;
}

/** Node's options to run a program from source, without a build. */
export const FROM_SOURCE = ["--import", "tsx", "-C", "@planwright/source"] as const;
const SERVICES = new URL("../../../../services/", import.meta.url);

/**
 * Starts a service and waits until it logs that it is ready.
 * @param program - "build": as it is deployed; "source": without a build
 * @throws {ServiceNotStartedError}
 */
export async function startService(
  service: ServiceName,
  program: "build" | "source",
  env: Record<string, string>,
): Promise<ServiceProcess> {
  const main = program === "build" ? "dist/main.js" : "src/main.ts";
  const child = spawn(
    process.execPath,
    [
      "--max-semi-space-size=32",
      ...(program === "source" ? FROM_SOURCE : []),
      fileURLToPath(new URL(`${service}/${main}`, SERVICES)),
    ],
    {
      env: { PATH: process.env["PATH"], PORT: "0", HEALTH_PORT: "0", LOG_LEVEL: "info", ...env },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const exit = once(child, "exit");
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.includes(`"msg":"${service} ready"`)) continue;
    child.stdout.resume();
    return {
      pid: child.pid ?? 0,
      url: /"url":"([^"]+)"/.exec(line)?.[1] ?? "",
      hasEnded,
      async stop(signal = "SIGTERM") {
        if (hasEnded()) return;
        child.kill(signal);
        await exit;
      },
    };
  }
  throw new ServiceNotStartedError({ service });
}
