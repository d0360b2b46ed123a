import { type Plan, type ToolDescriptor } from "@planwright/plan";
import type { GivenContext } from "@planwright/store";
import type { ScriptedAnswer } from "@planwright/testing";
import type { World } from "./world.ts";

/**
 * The origin of a case, which decides what it measures. "offline": the rules. "reading": reading answers of
 * models. "model": planning as a whole. "language": loops and conditions.
 */
export const SOURCES = ["offline", "reading", "model", "language"] as const;
export type Source = (typeof SOURCES)[number];

/** How planning a request ends. */
export type Ending =
  | { type: "plan"; plan: Pick<Plan, "steps" | "outputs"> }
  /**
   * Questions about values that the user did not give, as sorted `tool.parameter`; empty when a model asked
   * in its own words.
   */
  | { type: "questions"; missing: readonly string[] }
  | { type: "refusal"; code: string };

/** A request with its tools, and how planning it should end. */
export interface EvalCase {
  /** Unique: made of source, domain, and title or query. */
  id: string;
  source: Source;
  /** Name of the catalogue. */
  domain: string;
  query: string;
  /** The caller's time and place; absent: a fixed day in the past, in UTC. */
  context?: GivenContext | undefined;
  tools: readonly ToolDescriptor[];
  /**
   * Answers of the model, one for each call; the last one also answers all further calls. Empty for the
   * offline drafter.
   */
  answers: readonly ScriptedAnswer[];
  /**
   * Answer of the model when the prompt offers tools instead of asking for a plan. Absent: it calls no tool,
   * and the request is planned.
   */
  direct?: ScriptedAnswer | undefined;
  /** The right ending of the request, for any drafter. */
  wanted: Ending;
  /** The right ending for the recorded answers, when they do not allow `wanted`. */
  wantedOfAnswers?: Ending | undefined;
  /** When present, plans are graded by their effects in each world, not by their text. */
  worlds?: readonly World[] | undefined;
}
