import { STATE_LOOKS, type StateLook, type StateTone } from "@planwright/plan";

export { lookOf } from "@planwright/plan";

/** How a status looks, by the one table of states: the command line says the same words. */
export type StatusLook = StateLook;

/** What a status means for the reader. */
export type Tone = StateTone;

export const STEP_LOOK = STATE_LOOKS.step;
export const PLAN_LOOK = STATE_LOOKS.plan;
export const REQUEST_LOOK = STATE_LOOKS.request;
