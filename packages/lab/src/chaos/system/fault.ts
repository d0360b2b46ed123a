/** Processes that faults hit. */
export const EXECUTORS = ["executor-1", "executor-2", "executor-3"] as const;
export const PLANNERS = ["planner-1", "planner-2"] as const;
export const SERVICES = ["api", ...PLANNERS, ...EXECUTORS] as const;
export type ServiceName = (typeof SERVICES)[number];
export type VictimName = ServiceName | "mongo" | "redis" | "tools";
/** The executor that holds most plans when the fault begins. */
export const BUSIEST = "busiest executor";

/** One fault. `atMs` counts from the first one's earliest time; `forMs` is how long it lasts. */
export type Fault = { atMs: number } /** SIGKILL, and a start `forMs` later. */ & (
  | { type: "kill"; target: VictimName | typeof BUSIEST; forMs: number }
  /** SIGSTOP, and SIGCONT `forMs` later. */
  | { type: "pause"; target: VictimName | typeof BUSIEST; forMs: number }
  /** The connections of one service to one server are cut and refused. */
  | { type: "cut"; target: ServiceName | typeof BUSIEST; link: Link; forMs: number }
  /** They stay open, new ones are accepted, and nothing passes. */
  | { type: "freeze"; target: ServiceName | typeof BUSIEST; link: Link; forMs: number }
  /** FLUSHALL of Redis. */
  | { type: "flush" }
  /** Needless jobs: for known plans with odd epochs, for unknown plans, for invalid ids. */
  | { type: "duplicates"; count: number }
);
export type Link = "mongo" | "redis";

/** One line for people, such as "SIGKILL executor-2 for 1200 ms". */
export function describeFault(fault: Fault): string {
  switch (fault.type) {
    case "kill":
      return `SIGKILL ${fault.target}, back after ${fault.forMs} ms`;
    case "pause":
      return `SIGSTOP ${fault.target} for ${fault.forMs} ms`;
    case "cut":
      return `${fault.target} cut off from ${fault.link} for ${fault.forMs} ms`;
    case "freeze":
      return `nothing passes between ${fault.target} and ${fault.link} for ${fault.forMs} ms`;
    case "flush":
      return "FLUSHALL";
    case "duplicates":
      return `${fault.count} duplicate and odd jobs`;
  }
}
