import { expect, test } from "vitest";
import { createRunPhases } from "./run-parts.ts";

test("a run moves forward through its phases, and never back", () => {
  const phases = createRunPhases();
  expect([phases.now(), phases.isBefore("handing over")]).toEqual(["working", true]);
  expect(phases.enter("handing over")).toBe(true);
  expect(phases.enter("working")).toBe(false);
  expect([phases.now(), phases.isBefore("leaving"), phases.isBefore("handing over")]).toEqual([
    "handing over",
    true,
    false,
  ]);
  expect([phases.enter("ended"), phases.enter("leaving"), phases.enter("ended")]).toEqual([
    true,
    false,
    false,
  ]);
  expect(phases.now()).toBe("ended");
});
