import type { ManagedProcess } from "@planwright/local";

/** A process that faults may hit; after a kill it stays down until `restart`. */
export interface Victim extends ManagedProcess {
  /** SIGSTOP. */
  pause(): void;
  /** SIGCONT. */
  resume(): void;
}

/** A supervised process as a victim. */
export function victimOf(managed: ManagedProcess): Victim {
  return {
    ...managed,
    pause: () => signal(managed.pid(), "SIGSTOP"),
    resume: () => signal(managed.pid(), "SIGCONT"),
  };
}

/** Signals the process group; a process that has already ended is ignored. */
function signal(pid: number | undefined, name: "SIGSTOP" | "SIGCONT"): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, name);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
