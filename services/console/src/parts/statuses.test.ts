import { STATE_LOOKS, stateLook } from "@planwright/plan";
import { expect, test } from "vitest";
import { lookOf, PLAN_LOOK, REQUEST_LOOK, STEP_LOOK } from "./looks.ts";

test.each([
  ["step", STEP_LOOK],
  ["plan", PLAN_LOOK],
  ["request", REQUEST_LOOK],
] as const)("the pills of a %s say the words of the table", (kind, looks) => {
  for (const status of Object.keys(STATE_LOOKS[kind]))
    expect(lookOf(looks, status)).toEqual(stateLook(kind, { status }));
});
