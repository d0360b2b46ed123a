/** Processes that faults can hit. */
export const EXECUTORS = ["executor-1", "executor-2", "executor-3"] as const;
export const PLANNERS = ["planner-1", "planner-2"] as const;
export const SERVICES = ["api", ...PLANNERS, ...EXECUTORS] as const;
export type ServiceName = (typeof SERVICES)[number];
export type VictimName = ServiceName | "mongo" | "redis" | "tools";
/** The executor that holds the most plans when the fault begins. */
export const BUSIEST = "busiest executor";

/** One fault. `atMs` is the time since the start of the schedule; `forMs` is its duration. */
export type Fault = { atMs: number } /** SIGKILL, and a start `forMs` later. */ & (
  | { type: "kill"; target: VictimName | typeof BUSIEST; forMs: number }
  /** SIGSTOP, and SIGCONT `forMs` later. */
  | { type: "pause"; target: VictimName | typeof BUSIEST; forMs: number }
  /** The connections of one service to one server are cut and refused. */
  | { type: "cut"; target: ServiceName | typeof BUSIEST; link: Link; forMs: number }
  /** The connections stay open and new ones are accepted, but no data passes. */
  | { type: "freeze"; target: ServiceName | typeof BUSIEST; link: Link; forMs: number }
  /** FLUSHALL of Redis. */
  | { type: "flush" }
  /** Needless jobs: for known plans with wrong epochs, for unknown plans, for invalid ids. */
  | { type: "duplicates"; count: number }
);
export type Link = "mongo" | "redis";

/** One line about a fault, such as "SIGSTOP executor-2 for 1200 ms". */
export function describeFault(fault: Fault): string {
  switch (fault.type) {
    case "kill":
      return `SIGKILL ${fault.target}, restarted after ${fault.forMs} ms`;
    case "pause":
      return `SIGSTOP ${fault.target} for ${fault.forMs} ms`;
    case "cut":
      return `${fault.target} cut off from ${fault.link} for ${fault.forMs} ms`;
    case "freeze":
      return `no data passes between ${fault.target} and ${fault.link} for ${fault.forMs} ms`;
    case "flush":
      return "FLUSHALL";
    case "duplicates":
      return `${fault.count} duplicate and odd jobs`;
  }
}
