import { type Plan, type ToolDescriptor } from "@planwright/plan";
import type { GivenContext } from "@planwright/store";
import type { ScriptedAnswer } from "@planwright/testing";
import type { World } from "./world.ts";

/** Where a case comes from, and with that what it measures: the rules, the reading of answers, planning as a whole, loops and conditions. */
export const SOURCES = ["offline", "reading", "model", "language"] as const;
export type Source = (typeof SOURCES)[number];

/** How planning a request ends. */
export type Ending =
  | { type: "plan"; plan: Pick<Plan, "steps" | "outputs"> }
  /** Questions about values that the user did not give, as `tool.parameter` and sorted; empty where a model asked in its own words. */
  | { type: "questions"; missing: readonly string[] }
  | { type: "refusal"; code: string };

/** A request with its tools, and how planning it should end. */
export interface EvalCase {
  /** Unique: source, domain, and title or query. */
  id: string;
  source: Source;
  /** Name of the catalogue. */
  domain: string;
  query: string;
  /** Now and here; absent: a day long ago, in UTC. */
  context?: GivenContext | undefined;
  tools: readonly ToolDescriptor[];
  /** What the model says, one answer a call, the last one to every further call; empty for the offline drafter. */
  answers: readonly ScriptedAnswer[];
  /** What the model does where tools are offered for plain calls instead of a plan; absent: it calls none, and the request is planned. */
  direct?: ScriptedAnswer | undefined;
  /** What the request calls for, whichever drafter plans it. */
  wanted: Ending;
  /** How planning must end on the recorded answers, where they do not allow what the request calls for. */
  wantedOfAnswers?: Ending | undefined;
  /** Where present, plans are graded by what they do in each of them, not by how they are written. */
  worlds?: readonly World[] | undefined;
}
