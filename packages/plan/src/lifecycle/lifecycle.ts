import { z } from "zod";

/** The priorities of a request among those of its tenant, the most urgent last. */
export const PRIORITIES = ["low", "normal", "high"] as const;

const PrioritySchema = z.enum(PRIORITIES);
export type Priority = z.infer<typeof PrioritySchema>;

/**
 * How much earlier than its time waiting work counts, in milliseconds. Because this is a time and not a
 * class, work ages: a request of low priority is passed only by normal ones that came at most 10 minutes
 * after it, and by high ones that came at most 20 minutes after it.
 */
const HEAD_START_MS: Readonly<Record<Priority, number>> = { low: -600_000, normal: 0, high: 600_000 };

/**
 * The place of waiting work among that of its tenant: the lowest comes first.
 * @param sinceMs - since when it waits, in Unix milliseconds
 */
export function placeInLine(sinceMs: number, priority: Priority = "normal"): number {
  return sinceMs - HEAD_START_MS[priority];
}

/**
 * The common parts of the status tables. A table has one row for each status; its type, schema, filters and
 * sets derive from it. No other code lists statuses.
 */

/**
 * What a status waits for: a person approves, settles a call in doubt, answers, signs in at a tool server, starts
 * or resumes; a worker continues; or nothing, because the status is final or only time changes it.
 */
export type Need = "approval" | "doubt" | "answer" | "sign-in" | "start" | "resume" | "worker" | "nothing";

/** The status for older clients. */
export type ExecutionState = "pending" | "in-progress" | "completed" | "failed";

/** The part of a row that every table has. */
export interface StatusFacts<Status extends string> {
  /** Statuses that may follow. */
  moves: readonly Status[];
  needs: Need;
}

/** Rows by status. */
export type Rows<Status extends string, Facts> = Readonly<Record<Status, Facts>>;

/** The part of a table that says which statuses may follow. */
type Moves = Rows<string, { moves: readonly string[] }>;

/** The final statuses of a literal table. */
export type TerminalStatus<Table extends Moves> = {
  [Status in keyof Table]: Table[Status]["moves"] extends readonly [] ? Status : never;
}[keyof Table];

/** Every status of a table, in its order. */
export function statusesOf<Status extends string>(table: Rows<Status, unknown>): Status[] {
  return Object.keys(table) as Status[];
}

/** The statuses of a table whose rows match, in its order. */
export function statusesWhere<Status extends string, Facts>(
  table: Rows<Status, Facts>,
  fits: (facts: Facts) => boolean,
): Status[] {
  return statusesOf(table).filter((status) => fits(table[status]));
}

/** The statuses that may be followed by this one. */
export function statusesBefore<Table extends Moves>(
  table: Table,
  next: keyof Table & string,
): (keyof Table & string)[] {
  return statusesOf<keyof Table & string>(table).filter((status) => canMove(table, status, next));
}

/** True when a status may be followed by another one. */
export function canMove<Table extends Moves>(
  table: Table,
  from: keyof Table & string,
  to: keyof Table & string,
): boolean {
  const moves: readonly string[] = table[from]?.moves ?? [];
  return moves.includes(to);
}

/** True when only the decision of a person lets it continue. */
export function needsPerson(need: Need): boolean {
  return need !== "worker" && need !== "nothing";
}

/** Why an unfinished step, plan or request waits, and what it waits for. */
export const WAIT_REASONS = {
  dependency: { needs: "nothing" },
  limit: { needs: "nothing" },
  backoff: { needs: "nothing" },
  memory: { needs: "nothing" },
  approval: { needs: "approval" },
  "in doubt": { needs: "doubt" },
  "sign-in": { needs: "sign-in" },
  paused: { needs: "resume" },
  "no worker": { needs: "worker" },
} as const satisfies Record<string, { needs: Need }>;

/** Why an unfinished step, plan or request waits. */
export type WaitReason = keyof typeof WAIT_REASONS;
export const WaitReasonSchema = z.enum(statusesOf(WAIT_REASONS));

/** True for a wait that only a person ends; false also for what is no wait reason. Pure. */
export function isForPerson(reason: string): boolean {
  return Object.hasOwn(WAIT_REASONS, reason) && needsPerson(WAIT_REASONS[reason as WaitReason].needs);
}
