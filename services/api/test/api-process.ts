import type { ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { spawnService } from "@planwright/testing";
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

/** The address that the process logs when it is ready; later output is dropped. */
export async function addressOf(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new TypeError("the service has no output");
  for await (const line of createInterface({ input: child.stdout })) {
    const address = /"url":"([^"]+)","msg":"api ready"/.exec(line)?.[1];
    if (address !== undefined) {
      child.stdout.resume();
      return address;
    }
  }
  throw new TypeError("the service ended before it was ready");
}
