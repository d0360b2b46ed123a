import { type ChildProcess, spawn } from "node:child_process";
import { bundledServices } from "./bundled.ts";
import type { ServiceName } from "./service-mains.ts";

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
