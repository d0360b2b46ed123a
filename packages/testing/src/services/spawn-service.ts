import { type ChildProcess, spawn } from "node:child_process";
import { inject } from "vitest";
import type { ServiceName } from "./bundle-services.ts";

declare module "vitest" {
  export interface ProvidedContext {
    planwrightServices: Record<ServiceName, string>;
    /** The folder that `bundleProgram` made. */
    planwrightProgram: string;
  }
}

/**
 * Starts a service as a process of its own, from its source as it was when the test run began. Who starts it ends it.
 *
 * @param env - all that it knows of its surroundings, but for PATH
 * @returns with both outputs as pipes, which must be read
 */
export function spawnService(service: ServiceName, env: Record<string, string>): ChildProcess {
  return spawn(process.execPath, [inject("planwrightServices")[service]], {
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
}
