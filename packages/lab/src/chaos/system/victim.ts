import type { ManagedProcess } from "@planwright/local";

/** A process that faults may hit: killed, it stays away until restarted. */
export interface Victim extends ManagedProcess {
  /** SIGSTOP. */
  pause(): void;
  /** SIGCONT. */
  resume(): void;
}

/** What a supervisor keeps running, as a victim. */
export function victimOf(managed: ManagedProcess): Victim {
  return {
    ...managed,
    pause: () => signal(managed.pid(), "SIGSTOP"),
    resume: () => signal(managed.pid(), "SIGCONT"),
  };
}

/** Signals the process group; one that is gone already is fine. */
function signal(pid: number | undefined, name: "SIGSTOP" | "SIGCONT"): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, name);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
