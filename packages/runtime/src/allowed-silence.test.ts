import { expect, test } from "vitest";
import { createAllowedSilence } from "./start-heartbeat.ts";

/** Heartbeats once a second, from the first to the last second. */
function beatOn(silence: ReturnType<typeof createAllowedSilence>, from: number, to: number): void {
  for (let at = from; at <= to; at += 1_000)
    silence.answered(at, at === from ? Number.POSITIVE_INFINITY : 1_000);
}

test("each death of a process that lives doubles the time, up to eight times", () => {
  const silence = createAllowedSilence(5_000);
  const allowed = Array.from({ length: 5 }, () => {
    silence.declaredDead();
    return silence.ms();
  });
  expect(allowed).toEqual([10_000, 20_000, 40_000, 40_000, 40_000]);
});

test("a calm time halves it, and half of that again, down to the least", () => {
  const silence = createAllowedSilence(5_000);
  silence.declaredDead();
  silence.declaredDead();
  beatOn(silence, 0, 119_000);
  expect(silence.ms()).toBe(20_000);
  silence.answered(120_000, 1_000);
  expect(silence.ms()).toBe(10_000);
  beatOn(silence, 121_000, 181_000);
  expect(silence.ms()).toBe(5_000);
  beatOn(silence, 182_000, 1_000_000);
  expect(silence.ms()).toBe(5_000);
});

test("a long gap between heartbeats begins the calm time again", () => {
  const silence = createAllowedSilence(5_000);
  silence.declaredDead();
  beatOn(silence, 0, 59_000);
  silence.answered(62_000, 3_000);
  beatOn(silence, 63_000, 100_000);
  expect(silence.ms()).toBe(10_000);
});
