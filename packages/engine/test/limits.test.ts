import { expect, test } from "vitest";
import type { Command, EngineEvent, Outcome } from "../src/index.ts";
import { completed, planOf, type SimulateOptions, simulate, tool } from "./simulate.ts";

const DEFERRED: Outcome = { type: "deferred", untilAt: 5_000, waitReason: "limit" };
const cleared = (at: number, key = "a"): EngineEvent => ({ type: "deferral.ended", key, at });

/** One step whose first call finds its limit exhausted; calls take no time. */
function run(events: EngineEvent[], options: SimulateOptions = {}) {
  let isFirst = true;
  const parks: Command[] = [];
  const simulation = simulate(planOf([{ id: "a", tool: "t" }]), [tool("t")], {
    durationMs: () => 0,
    outcome: () => {
      if (!isFirst) return completed(1);
      isFirst = false;
      return DEFERRED;
    },
    onCommand: (command) => command.type === "park" && parks.push(command),
    events,
    ...options,
  });
  return { ...simulation, parks, starts: simulation.calls.map(({ from, call }) => [from, call.attempt]) };
}

test("a plan that only waits for a limit parks with that reason and the time", () => {
  expect(run([]).parks).toEqual([{ type: "park", status: "WAITING", reason: "limit", until: 5_000 }]);
});

test("a limit that is cleared before its time starts the call at once, as the same attempt", () => {
  expect(run([cleared(700)]).starts).toEqual([
    [0, 1],
    [700, 1],
  ]);
});

test("a sign-in starts the call that waits for it at once", () => {
  let isFirst = true;
  const { starts } = run([cleared(700)], {
    outcome: () => {
      if (!isFirst) return completed(1);
      isFirst = false;
      return { ...DEFERRED, waitReason: "sign-in" };
    },
  });
  expect(starts).toEqual([
    [0, 1],
    [700, 1],
  ]);
});

test("a limit that is cleared twice, late, or for another unit changes nothing", () => {
  const { starts, finish } = run([cleared(600, "b"), cleared(700), cleared(700), cleared(5_100)]);
  expect(starts).toHaveLength(2);
  expect(finish?.status).toBe("COMPLETED");
});

test("a limit that is cleared while the plan is paused starts nothing until it continues", () => {
  const { starts } = run([{ type: "pause", at: 500 }, cleared(700), { type: "resume", at: 900 }]);
  expect(starts).toEqual([
    [0, 1],
    [900, 1],
  ]);
});

test("a limit that is cleared after the plan was cancelled starts nothing", () => {
  const { starts, finish } = run([{ type: "cancel", at: 500, reason: "stop" }, cleared(700)]);
  expect(starts).toHaveLength(1);
  expect(finish?.status).toBe("CANCELLED");
});

test("a backoff is not cut short by a limit", () => {
  let calls = 0;
  const { starts } = run([cleared(100)], {
    random: () => 0.9,
    outcome: () => {
      calls++;
      if (calls > 1) return completed(1);
      const error = { code: "TOOL_RATE_LIMITED", message: "later", retryable: true };
      return { type: "failed", effect: "none", error, retryAfterMs: 2_000 };
    },
  });
  expect(starts.length).toBe(2);
  expect(starts[1]?.[0]).toBeGreaterThanOrEqual(2_000);
});

test("a limit that is cleared for one item of a batch starts the batch", () => {
  let isFirst = true;
  const plan = planOf([{ id: "a", forEach: { items: [1, 2, 3, 4], do: { tool: "t", arguments: {} } } }]);
  const batched = tool("t", { batch: { param: "list", max: 10 } });
  const simulation = simulate(plan, [batched], {
    durationMs: () => 0,
    outcome: () => {
      if (!isFirst) return completed([1, 2, 3, 4]);
      isFirst = false;
      return DEFERRED;
    },
    events: [cleared(700, "a[0]")],
  });
  expect(simulation.calls.map(({ from }) => from)).toEqual([0, 700]);
  expect(simulation.finish?.status).toBe("COMPLETED");
});
