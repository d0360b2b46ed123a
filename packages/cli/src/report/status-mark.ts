import { type StateTone, stateLook } from "@planwright/plan";
import type { Tone } from "../terminal/style.ts";

/** The symbol and tone of a status. */
export interface Mark {
  symbol: string;
  tone: Tone;
}

const TONES: Readonly<Record<StateTone, Tone>> = {
  good: "good",
  bad: "bad",
  active: "busy",
  attention: "attention",
  quiet: "quiet",
};

/**
 * The mark of a plan, step or request; a plain one for an unknown status: the API may be newer.
 */
export function markOf(
  kind: "step" | "plan" | "request",
  state: { status: string; waitReason?: string | null },
): Mark {
  const { mark, tone } = stateLook(kind, state);
  return { symbol: mark, tone: TONES[tone] };
}
