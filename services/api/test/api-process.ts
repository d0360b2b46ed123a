import type { ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { spawnService, startRoles } from "@planwright/testing";
import { onTestFinished } from "vitest";

/** The service as a separate process on a free port; it is killed when the test ends. */
export function startApiProcess(
  env: Record<string, string>,
  whenFinished: (end: () => void) => void = onTestFinished,
): ChildProcess {
  const child = spawnService("api", { PORT: "0", ...env });
  whenFinished(() => void child.kill("SIGKILL"));
  return child;
}

/** The address in the log line of a service that is ready; undefined for another line. */
const readyAddress = (line: string): string | undefined =>
  /"url":"([^"]+)","msg":"api ready"/.exec(line)?.[1];

/**
 * The service with its settings in the process of the test, on a free port; it ends with the test.
 * @param onLine - gets each line that it prints
 * @returns its address
 */
export async function startApi(
  env: Record<string, string>,
  whenFinished: (end: () => Promise<void>) => void = onTestFinished,
  onLine: (line: string) => void = () => undefined,
): Promise<string> {
  let address = "";
  // On a busy machine the process of the test stops for seconds.
  const settings = { PORT: "0", HEALTH_PORT: "0", MONGODB_TIMEOUT_MS: "60000", ...env };
  const roles = await startRoles(["api"], settings, (_, line) => {
    address = readyAddress(line) ?? address;
    onLine(line);
  });
  whenFinished(() => roles.end());
  return address;
}

/** The address that the process logs when it is ready; later output is dropped. */
export async function addressOf(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new TypeError("the service has no output");
  for await (const line of createInterface({ input: child.stdout })) {
    const address = readyAddress(line);
    if (address !== undefined) {
      child.stdout.resume();
      return address;
    }
  }
  throw new TypeError("the service ended before it was ready");
}
