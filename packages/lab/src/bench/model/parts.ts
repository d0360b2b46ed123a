import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** A program that speaks MCP over stdio. */
export interface ServerCommand {
  command: string;
  args: string[];
  env: Record<string, string>;
}

const FROM_SOURCE = ["--import", "tsx", "-C", "@planwright/source"];
const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The tools, each call of which takes so many milliseconds. */
export const toolServerCommand = (latencyMs: number): ServerCommand => ({
  command: process.execPath,
  args: [...FROM_SOURCE, fileOf("tool-server.ts")],
  env: { PATH: process.env["PATH"] ?? "", LATENCY_MS: String(latencyMs) },
});

/** Starts a service from its source and waits until it says that it is ready. Returns what ends it. */
export async function startService(
  name: "planner" | "executor",
  env: Record<string, string>,
): Promise<() => Promise<void>> {
  const child: ChildProcess = spawn(
    process.execPath,
    [...FROM_SOURCE, fileOf(`../../../../../services/${name}/src/main.ts`)],
    {
      env: { PATH: process.env["PATH"] ?? "", HEALTH_PORT: "0", LOG_LEVEL: "info", ...env },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const exit = once(child, "exit");
  if (child.stdout) {
    for await (const line of createInterface({ input: child.stdout }))
      if (line.includes(`${name} ready`)) break;
    child.stdout.resume();
  }
  return async () => {
    child.kill("SIGTERM");
    await exit;
  };
}
