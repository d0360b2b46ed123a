import { wholeCharacters } from "@planwright/plan";
import type { ErrorFact, StepFact } from "./facts.ts";

/** The code by which a client decides. Every code has its severity in {@link SEVERITY_OF}. */
export type DiagnosisCode =
  | "APPROVAL_NEEDED"
  | "CANCELLED"
  | "CANCELLING"
  | "COMPLETED"
  | "EXECUTORS_BUSY"
  | "EXECUTORS_LOST"
  | "EXPIRED"
  | "INPUT_NEEDED"
  | "IN_DOUBT"
  | "ITEMS_FAILED"
  | "LIMIT_REACHED"
  | "MODEL_AWAY"
  | "NOT_STARTED"
  | "NO_EXECUTOR"
  | "NO_PLANNER"
  | "PAUSED"
  | "PAUSING"
  | "PLANNING"
  | "PLANNING_FAILED"
  | "PLAN_FAILED"
  | "POISONED"
  | "RUNNING"
  | "SERVER_UNREACHABLE"
  | "SIGN_IN_NEEDED"
  | "STEP_FAILED"
  | "STEP_RETRYING";

/**
 * Whether a client or operator has to act: NONE and PROGRESS need nothing, ATTENTION a decision, FAILURE a
 * correction.
 */
type DiagnosisSeverity = "NONE" | "PROGRESS" | "ATTENTION" | "FAILURE";

const SEVERITY_OF: Readonly<Record<DiagnosisCode, DiagnosisSeverity>> = {
  APPROVAL_NEEDED: "ATTENTION",
  CANCELLED: "ATTENTION",
  CANCELLING: "PROGRESS",
  COMPLETED: "NONE",
  EXECUTORS_BUSY: "PROGRESS",
  EXECUTORS_LOST: "ATTENTION",
  EXPIRED: "FAILURE",
  INPUT_NEEDED: "ATTENTION",
  IN_DOUBT: "ATTENTION",
  ITEMS_FAILED: "FAILURE",
  LIMIT_REACHED: "ATTENTION",
  MODEL_AWAY: "ATTENTION",
  NOT_STARTED: "ATTENTION",
  NO_EXECUTOR: "ATTENTION",
  NO_PLANNER: "ATTENTION",
  PAUSED: "ATTENTION",
  PAUSING: "PROGRESS",
  PLANNING: "PROGRESS",
  PLANNING_FAILED: "FAILURE",
  PLAN_FAILED: "FAILURE",
  POISONED: "FAILURE",
  RUNNING: "PROGRESS",
  SERVER_UNREACHABLE: "ATTENTION",
  SIGN_IN_NEEDED: "ATTENTION",
  STEP_FAILED: "FAILURE",
  STEP_RETRYING: "ATTENTION",
};

/** Something that a client or operator can do. */
export interface NextAction {
  description: string;
  /** Field of Query, Mutation or Subscription. */
  operation: string;
  arguments: object;
  /** Arguments of the command `planwright`. */
  command: readonly string[];
}

/** The cause of a request's state, and the next actions. */
export interface Diagnosis {
  cause: {
    code: DiagnosisCode;
    severity: DiagnosisSeverity;
    message: string;
    errorCode: string | null;
  };
  reasons: readonly string[];
  stepKeys: readonly string[];
  since: Date | null;
  next: readonly NextAction[];
}

/** The result of the functions of this folder; {@link toDiagnosis} adds the derived fields. */
export interface PartialDiagnosis {
  code: DiagnosisCode;
  /** One sentence without its full stop. */
  message: string;
  errorCode?: string | undefined;
  reasons?: readonly string[];
  stepKeys?: readonly string[];
  since?: Date | null;
  next: readonly NextAction[];
}

/** Most keys that a diagnosis names. */
const MAX_KEYS = 20;

/** Adds the severity, and keeps the lists short. */
export function toDiagnosis(partial: PartialDiagnosis): Diagnosis {
  const { code, message, errorCode = null, reasons = [], stepKeys = [], since = null, next } = partial;
  return {
    cause: { code, severity: SEVERITY_OF[code], message, errorCode },
    reasons: reasons.slice(0, 3),
    stepKeys: stepKeys.slice(0, MAX_KEYS),
    since,
    next: next.filter((action, index) => next.findIndex(isSame(action)) === index).slice(0, 2),
  };
}

const isSame =
  ({ command }: NextAction) =>
  (other: NextAction): boolean =>
    other.command.join(" ") === command.join(" ");

/** A text from outside, on one line of at most `maxLength` characters. Default 300. */
export function clipped(text: string, maxLength = 300): string {
  const line = wholeCharacters(text, 4 * maxLength)
    .replace(/\s+/gu, " ")
    .trim();
  return line.length > maxLength || text.length > 4 * maxLength
    ? `${wholeCharacters(line, maxLength)} …`
    : line;
}

/** The message of a tool, a model or the engine, with its code. */
export function problem({ code, message }: ErrorFact): string {
  return `${clipped(message)} (${clipped(code, 64)})`;
}

/** Name of a step, with its tool when that has another name. */
export function stepName({ key, tool }: Pick<StepFact, "key" | "tool">): string {
  return key === tool ? clipped(key, 80) : `${clipped(key, 80)} (${clipped(tool, 80)})`;
}

/** `server "shop"`, or "its server" if no server offers the tool now. */
export function serverName(server: string | undefined): string {
  return server === undefined ? "its server" : `server "${server}"`;
}
