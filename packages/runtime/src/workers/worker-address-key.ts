import { readFileSync, readlinkSync } from "node:fs";

/**
 * Key of the address at which a process listens, unique over all machines: the boot of the kernel, the
 * network namespace, and the address. Of two processes with the same key, the second could listen only after
 * the first had ended or closed its server. Null when the system does not provide these facts (Linux does).
 * @param url - of a server that is listening
 * @param read - default: the files of Linux
 */
export function workerAddressKey(url: string, read: SystemFacts = linuxFacts): string | null {
  const facts = read();
  return facts && `${facts.boot} ${facts.network} ${new URL(url).host}`;
}

/** Facts that distinguish machines and their networks; null where they are unknown. */
export type SystemFacts = () => { boot: string; network: string } | null;

function linuxFacts(): ReturnType<SystemFacts> {
  try {
    return {
      boot: readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim(),
      network: readlinkSync("/proc/self/ns/net"),
    };
  } catch {
    // On another system a restart is noticed when the heartbeat is missing.
    return null;
  }
}
