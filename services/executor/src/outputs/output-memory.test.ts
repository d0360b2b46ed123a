import { expect, test } from "vitest";
import { createOutputMemory } from "./output-memory.ts";

/** Starts plans that hold bytes of outputs, and records to which sizes each was asked to drop. */
function startMemory(maxBytes: number) {
  const memory = createOutputMemory({ maxBytes });
  const join = (least = 0) => {
    const plan = { held: 0, dropTargets: [] as number[] };
    const outputs = memory.join({
      heldBytes: () => plan.held,
      drop(toBytes) {
        plan.dropTargets.push(toBytes);
        plan.held = Math.max(least, toBytes);
      },
    });
    const hold = (bytes: number) => {
      plan.held = bytes;
      outputs.changed();
    };
    return { plan, outputs, hold };
  };
  return { join };
}

test("the plan that holds most drops the bytes beyond the budget of all plans", () => {
  const { join } = startMemory(100);
  const [small, large] = [join(), join()];
  small.hold(30);
  large.hold(70);
  expect([small.plan.dropTargets, large.plan.dropTargets]).toEqual([[], []]);
  small.hold(40);
  expect([small.plan.dropTargets, large.plan.dropTargets]).toEqual([[], [60]]);
});

test("when the largest plan cannot drop enough, the next one drops", () => {
  const { join } = startMemory(100);
  const [stuck, other] = [join(90), join()];
  stuck.hold(90);
  other.hold(50);
  expect([stuck.plan.dropTargets, other.plan.dropTargets]).toEqual([[50], [10]]);
});

test("outputs of a plan that has ended no longer count", () => {
  const { join } = startMemory(100);
  const [first, second] = [join(), join()];
  first.hold(80);
  first.outputs.leave();
  second.hold(90);
  expect(second.plan.dropTargets).toEqual([]);
});

test("reads that exceed the budget together wait for each other, in order, also after a read that fails", async () => {
  const { join } = startMemory(100);
  const { outputs } = join();
  const log: string[] = [];
  const ends: (() => void)[] = [];
  const load = (name: string, bytes: number, fails = false) =>
    outputs.load(
      bytes,
      async () => {
        log.push(`reads ${name}`);
        await new Promise<void>((resolve) => ends.push(resolve));
        if (fails) throw new TypeError("lost");
      },
      () => log.push(`has ${name}`),
    );
  const first = load("a", 60, true);
  const others = [load("b", 60), load("c", 40), load("d", 500)];
  await Promise.resolve();
  expect(log).toEqual(["reads a"]);
  ends.shift()?.();
  await expect(first).rejects.toThrow("lost");
  await Promise.resolve();
  expect(log).toEqual(["reads a", "reads b", "reads c"]);
  for (const end of ends.splice(0)) end();
  await expect.poll(() => log.at(-1)).toBe("reads d");
  ends.shift()?.();
  await Promise.all(others);
  expect(log).toEqual(["reads a", "reads b", "reads c", "has b", "has c", "reads d", "has d"]);
});
