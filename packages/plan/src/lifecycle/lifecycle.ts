/**
 * What the tables of statuses have in common (DESIGN §5). A table has one row for each status; its type, schema, filters and sets derive
 * from it. Nothing else restates a list of statuses.
 */

/**
 * What has to come before anything changes: a person's approval, their word on a call in doubt, their answer, start or resume; a worker;
 * or nothing, as nothing is to change or time alone changes it.
 */
export type Need = "approval" | "doubt" | "answer" | "start" | "resume" | "worker" | "nothing";

/** What older clients read in the place of a status. */
export type ExecutionState = "pending" | "in-progress" | "completed" | "failed";

/** The part of a row that every table has. */
export interface StatusFacts<Status extends string> {
  /** Statuses that may follow. */
  moves: readonly Status[];
  needs: Need;
}

/** Rows by status. */
export type Rows<Status extends string, Facts> = Readonly<Record<Status, Facts>>;

/** A table as far as its moves go. */
type Moves = Rows<string, { moves: readonly string[] }>;

/** Statuses of which a literal table says that they never change again. */
export type TerminalStatus<Table extends Moves> = {
  [Status in keyof Table]: Table[Status]["moves"] extends readonly [] ? Status : never;
}[keyof Table];

/** Every status of a table, in its order. */
export function statusesOf<Status extends string>(table: Rows<Status, unknown>): Status[] {
  return Object.keys(table) as Status[];
}

/** The statuses of a table whose rows fit, in its order. */
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

/** True when only a person's word lets it go on. */
export function needsPerson(need: Need): boolean {
  return need !== "worker" && need !== "nothing";
}
