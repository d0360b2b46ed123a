import { readFileSync, readlinkSync } from "node:fs";

/**
 * Names the address at which a process of this machine listens, different from all others of this and of every other machine: by the boot of the
 * kernel, the network namespace, and the address. Of two processes that ever had the same one, the second could listen only once the first had
 * ended, or had closed its server. Null where the system does not tell (Linux does).
 * @param url - of a server that listens already
 * @param read - default: the files of Linux
 */
export function workerPlace(url: string, read: SystemFacts = linuxFacts): string | null {
  const facts = read();
  return facts && `${facts.boot} ${facts.network} ${new URL(url).host}`;
}

/** What tells machines and their networks apart; null where it is not known. */
export type SystemFacts = () => { boot: string; network: string } | null;

function linuxFacts(): ReturnType<SystemFacts> {
  try {
    return {
      boot: readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim(),
      network: readlinkSync("/proc/self/ns/net"),
    };
  } catch {
    // Another system: a restart is noticed when the lease ends.
    return null;
  }
}
