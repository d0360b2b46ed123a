import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { CodedError } from "@planwright/plan";

type ServiceName = "api" | "planner" | "executor";

/** A service did not come up. Its own output says why. */
export class ServiceNotStartedError extends CodedError<{ service: ServiceName }> {
  readonly code = "SERVICE_NOT_STARTED";
  readonly retryable = false;
  constructor(facts: { service: ServiceName }) {
    super(`The service ${facts.service} did not come up, for the reason above`, facts);
  }
}

/** A service in a process of its own. */
export interface ServiceProcess {
  pid: number;
  /**
   * Of the API, such as http://127.0.0.1:41234/graphql; "" for services that listen for health checks alone.
   */
  url: string;
  /** True once the process has ended, for whatever reason. */
  hasEnded(): boolean;
  /** Default: SIGTERM. */
  stop(signal?: "SIGTERM" | "SIGKILL"): Promise<void>;
}

/** Node's options for a program that runs from source, without a build. */
export const FROM_SOURCE = ["--import", "tsx", "-C", "@planwright/source"] as const;
const SERVICES = new URL("../../../../services/", import.meta.url);

/**
 * Starts a service and waits until it says that it is ready.
 * @param program - the build as it is deployed, or the source
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
