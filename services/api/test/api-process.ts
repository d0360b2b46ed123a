import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

const MAIN = fileURLToPath(new URL("../src/main.ts", import.meta.url));

/** The service as a process of its own, on a free port; gone when the test is over. */
export function startApiProcess(
  env: Record<string, string>,
  whenFinished: (end: () => void) => void = onTestFinished,
): ChildProcess {
  const child = spawn(process.execPath, ["--conditions=@planwright/source", "--import", "tsx", MAIN], {
    env: { PATH: process.env["PATH"] ?? "", PORT: "0", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  whenFinished(() => void child.kill("SIGKILL"));
  return child;
}

/** The address that the process logs once it is ready; what it prints afterwards is dropped. */
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
