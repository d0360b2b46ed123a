import { setTimeout as delay } from "node:timers/promises";
import { createQueues } from "@planwright/queue";
import { Redis } from "ioredis";
import type { Random } from "../random/random.ts";
import { BUSIEST, describeFault, EXECUTORS, type Fault, QUEUE_PREFIX, type System } from "./system.ts";

/** A SIGKILL that was sent. */
export interface Kill {
  target: string;
  pid: number;
  /** Unix milliseconds. */
  at: number;
}

/** Dependencies of an injector. */
interface FaultInjectorParts {
  system: System;
  random: Random;
  /** Number of plans that each process holds, by pid. */
  plansHeld: () => ReadonlyMap<number, number>;
  /** Resolves at a time of the pace. */
  until: (atMs: number) => Promise<void>;
  /** Ids of plans that duplicate jobs may name. */
  knownPlanIds: () => readonly string[];
  say: (line: string) => void;
}

/** Injects faults: one after the other at one target, concurrently at different targets. */
interface FaultInjector {
  /** Kills so far, in order. */
  readonly kills: readonly Kill[];
  /** Begins each fault at its time; resolves when all faults are undone. */
  run(schedule: readonly Fault[]): Promise<void>;
  close(): Promise<void>;
}

/** An injector over a running system. */
export function createFaultInjector(parts: FaultInjectorParts): FaultInjector {
  const { system, random, plansHeld, until, knownPlanIds, say } = parts;
  const kills: Kill[] = [];
  const turns = new Map<string, Promise<void>>();
  const queues = createQueues({ redisUrl: system.redisUrl, prefix: QUEUE_PREFIX });

  function busiest(): (typeof EXECUTORS)[number] {
    const held = plansHeld();
    const load = (name: (typeof EXECUTORS)[number]): number => held.get(system.victims[name].pid() ?? 0) ?? 0;
    return EXECUTORS.toSorted((a, b) => load(b) - load(a))[0] ?? EXECUTORS[0];
  }

  async function inject(fault: Aimed<Fault>, target: string): Promise<void> {
    say(describeFault(fault, target));
    switch (fault.type) {
      case "kill": {
        const victim = system.victims[fault.target];
        const pid = victim.pid();
        if (pid !== undefined) kills.push({ target, pid, at: Date.now() });
        await victim.kill();
        await delay(fault.forMs);
        return await victim.restart();
      }
      case "pause": {
        const victim = system.victims[fault.target];
        victim.pause();
        await delay(fault.forMs);
        return victim.resume();
      }
      case "cut":
      case "freeze": {
        const proxy = system.proxy(fault.target, fault.link);
        proxy[fault.type]();
        await delay(fault.forMs);
        return proxy.mend();
      }
      case "flush":
        return await flush(system.redisUrl);
      case "duplicates":
        return offerOddJobs(fault.count);
    }
  }

  function offerOddJobs(count: number): void {
    const known = knownPlanIds();
    for (let index = 0; index < count; index += 1) {
      const planId =
        known.length > 0 && random.chance(0.8) ? random.pick(known) : `plan_1_${"x".repeat(index)}`;
      const hint = { _id: planId, tenant: random.pick(["t1", "t2", ""]) };
      queues.offerExecution(hint);
      if (random.chance(0.1)) queues.offerPlanning(hint);
    }
  }

  return {
    kills,
    async run(schedule) {
      const running: Promise<void>[] = [];
      for (const planned of schedule) {
        await until(planned.atMs);
        const fault = aim(planned, busiest);
        const target = "target" in fault ? system.processOf(fault.target) : fault.type;
        const turn = (turns.get(target) ?? Promise.resolve()).then(() => inject(fault, target));
        turns.set(target, turn);
        running.push(turn);
      }
      await Promise.allSettled(running); // waits for all faults, even when one of them failed
      await Promise.all(running);
    },
    close: () => queues.close(),
  };
}

/** A fault with a named target instead of {@link BUSIEST}. */
type Aimed<F> = F extends { target: infer Target }
  ? Omit<F, "target"> & { target: Exclude<Target, typeof BUSIEST> }
  : F;

function aim(fault: Fault, busiest: () => (typeof EXECUTORS)[number]): Aimed<Fault> {
  switch (fault.type) {
    case "kill":
    case "pause":
      return { ...fault, target: fault.target === BUSIEST ? busiest() : fault.target };
    case "cut":
    case "freeze":
      return { ...fault, target: fault.target === BUSIEST ? busiest() : fault.target };
    case "flush":
    case "duplicates":
      return fault;
  }
}

/** Empties Redis as soon as it answers; the command waits while Redis starts. */
async function flush(redisUrl: string): Promise<void> {
  const client = new Redis(redisUrl, { maxRetriesPerRequest: null });
  client.on("error", () => undefined); // the command waits for the connection
  await client.flushall();
  client.disconnect();
}
