import { type ChildProcess, spawn } from "node:child_process";
import type { Writable } from "node:stream";

/**
 * Reads "+pid" and "-pid" lines. When the parent ends for any reason, the kernel closes the pipe. Then the
 * script stops every listed group: with SIGTERM, and after 3 s with SIGKILL. Groups, so that children of
 * children end too.
 */
const SCRIPT = `
pids=""
while read -r line; do
  pid="\${line#?}"
  case "$line" in
    +*) pids="$pids $pid" ;;
    -*) kept=""; for p in $pids; do [ "$p" = "$pid" ] || kept="$kept $p"; done; pids="$kept" ;;
  esac
done
for p in $pids; do kill -TERM "-$p" 2>/dev/null; done
i=0
while [ "$i" -lt 30 ]; do
  left=""
  for p in $pids; do kill -0 "-$p" 2>/dev/null && left="$left $p"; done
  [ -z "$left" ] && exit 0
  sleep 0.1
  i=$((i + 1))
done
for p in $left; do kill -KILL "-$p" 2>/dev/null; done
`;

/** Ends child process groups after this process has ended, also by SIGKILL or a crash. */
export interface Watchdog {
  /** Guards the process group that this process leads. */
  add(pid: number): void;
  /** Removes a group that has ended, before its number is used again. */
  remove(pid: number): void;
}

let current: Watchdog | undefined;

/** The watchdog of this process, started at first use: one `sh` that sleeps on a pipe. */
export function watchdog(): Watchdog {
  current ??= startWatchdog();
  return current;
}

function startWatchdog(): Watchdog {
  // Detached: a Ctrl-C in the terminal must reach only the parent, neither the watchdog nor the processes
  // that it guards.
  const child = spawn("sh", ["-c", SCRIPT], { detached: true, stdio: ["pipe", "ignore", "ignore"] });
  const { stdin } = child;
  letParentEnd(child, stdin);
  // A watchdog that was killed cannot guard; the next child gets a new one.
  child.once("exit", () => {
    current = undefined;
  });
  child.once("error", () => {
    current = undefined;
  });
  stdin.on("error", () => {
    current = undefined;
  });
  return {
    add: (pid) => void stdin.write(`+${pid}\n`),
    remove: (pid) => void stdin.write(`-${pid}\n`),
  };
}

/** Neither the process nor its pipe keeps this process's event loop alive. */
function letParentEnd(child: ChildProcess, stdin: Writable): void {
  child.unref();
  if ("unref" in stdin && typeof stdin.unref === "function") stdin.unref();
}
