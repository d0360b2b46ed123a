import { type ChildProcess, spawn } from "node:child_process";
import { inject } from "vitest";
import { z } from "zod";
import { askOnDemand } from "../on-demand/ask.ts";
import type { OnDemand } from "../on-demand/protocol.ts";
import { type ServiceName, ServiceNameSchema } from "./service-mains.ts";

/**
 * Code that runs before the service and ends it when its parent process has ended, so that a killed test run
 * leaves no processes.
 */
const END_WITH_PARENT = `data:text/javascript,${encodeURIComponent(`
  const look = () => process.ppid !== ${process.pid} && process.kill(process.pid, "SIGKILL");
  setInterval(look, 500).unref();
`)}`;

/**
 * Starts a service as a separate process, from the sources as they were when the first test asked for it. The
 * caller has to end it.
 *
 * @param env - its complete environment, apart from PATH
 * @returns the process; both outputs are pipes that must be read
 */
export function spawnService(service: ServiceName, env: Record<string, string>): ChildProcess {
  return spawn(process.execPath, ["--import", END_WITH_PARENT, bundledServices()[service]], {
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

declare module "vitest" {
  export interface ProvidedContext {
    planwrightServices: OnDemand;
    planwrightProgram: OnDemand;
  }
}

const ServicesSchema = z.record(ServiceNameSchema, z.string());

/**
 * The argument for Node that starts each service. The first call of a test run bundles the sources as they
 * are then.
 */
export function bundledServices(): Record<ServiceName, string> {
  return askOnDemand(inject("planwrightServices"), ServicesSchema);
}

/** The folder of the package of the command `planwright`, bundled by the first call of this test run. */
export function bundledProgram(): string {
  return askOnDemand(inject("planwrightProgram"), z.string());
}
