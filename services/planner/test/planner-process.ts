import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { bundledServices, spawnService } from "@planwright/testing";

/** The service as a separate process. */
export interface PlannerProcess {
  /** URL of its health server. */
  health: string;
  /** All its output so far. */
  lines: readonly string[];
  /** Sends a signal and does not wait. */
  signal(name: NodeJS.Signals): void;
  /**
   * Sends a signal and waits for the exit, unless it has ended; resolves to the exit code, or null when a signal ended
   * it.
   */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

/** Starts the service; its output is on both streams. */
export function spawnPlanner(env: Record<string, string>): ChildProcess {
  // Bundling stops this process: not while it waits for the planner, or is its model.
  bundledServices("planner", "in-process");
  return spawnService("planner", { HEALTH_PORT: "0", ...env });
}

/** Starts the service and waits until it reports that it is ready. */
export async function startPlanner(env: Record<string, string>): Promise<PlannerProcess> {
  const child = spawnPlanner(env);
  const lines: string[] = [];
  const health = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      if (!stream) continue;
      createInterface(stream).on("line", (line) => {
        lines.push(line);
        const url = line.includes("planner ready") ? /"health":"([^"]+)"/.exec(line)?.[1] : undefined;
        if (url !== undefined) resolve(url);
      });
    }
    child.once("exit", () => reject(new TypeError(`the planner ended:\n${lines.join("\n")}`)));
  });
  return {
    health,
    lines,
    signal: (name) => void child.kill(name),
    end: async (signal) => {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      const ended = once(child, "exit");
      child.kill(signal);
      await ended;
      return child.exitCode;
    },
  };
}
