import { type ChildProcess, spawn } from "node:child_process";
import { bundledServices } from "./bundled.ts";
import type { ServiceName } from "./service-mains.ts";

/**
 * Runs before the service: ends it when the process that started it has gone, so that a killed test run
 * leaves nothing.
 */
const END_WITH_PARENT = `data:text/javascript,${encodeURIComponent(`
  const look = () => process.ppid !== ${process.pid} && process.kill(process.pid, "SIGKILL");
  setInterval(look, 500).unref();
`)}`;

/**
 * Starts a service as a separate process, from its source as it was when the first test asked for it. The
 * caller has to end it.
 *
 * @param env - its whole environment, apart from PATH
 * @returns with both outputs as pipes, which must be read
 */
export function spawnService(service: ServiceName, env: Record<string, string>): ChildProcess {
  return spawn(process.execPath, ["--import", END_WITH_PARENT, bundledServices()[service]], {
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
}
