import type { ManagedProcess } from "@planwright/local";

/** A process that faults can hit. After a kill it stays down until `restart`. */
export interface Victim extends ManagedProcess {
  /** SIGSTOP. */
  pause(): void;
  /** SIGCONT. */
  resume(): void;
}

/** Makes a supervised process a victim. */
export function victimOf(managed: ManagedProcess): Victim {
  return {
    ...managed,
    pause: () => signal(managed.pid(), "SIGSTOP"),
    resume: () => signal(managed.pid(), "SIGCONT"),
  };
}

/** Sends a signal to the process group; does nothing when the process has ended. */
function signal(pid: number | undefined, name: "SIGSTOP" | "SIGCONT"): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, name);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
