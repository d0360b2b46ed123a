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

/** Plans of tenants that reserve memory for calls: `log` has the calls that have memory, in their order. */
function startReservations(maxBytes: number) {
  const memory = createOutputMemory({ maxBytes });
  const log: string[] = [];
  const sizes = new Map<string, number>();
  const releases = new Map<string, () => void>();
  const join = (tenant: string, takes = true) => {
    const outputs = memory.join({
      tenant,
      heldBytes: () => 0,
      drop: () => undefined,
      reserved: (key) => void (takes && reserve(key, sizes.get(key) ?? 0)),
    });
    function reserve(key: string, bytes: number): void {
      sizes.set(key, bytes);
      const release = outputs.reserve(key, bytes);
      if (!release) return;
      log.push(key);
      releases.set(key, release);
    }
    return { reserve, leave: () => outputs.leave() };
  };
  return { memory, join, log, release: (key: string) => releases.get(key)?.() };
}

test("calls whose arguments exceed the budget together wait, and one call is always allowed", () => {
  const { join, log, release } = startReservations(1_000);
  const plan = join("t1");
  for (const [key, bytes] of Object.entries({ a: 600, b: 5_000, c: 300, d: 700 })) plan.reserve(key, bytes);
  expect(log).toEqual(["a"]);
  plan.reserve("b", 5_000); // asking again changes nothing
  release("a");
  expect(log).toEqual(["a", "b"]);
  release("b");
  expect(log).toEqual(["a", "b", "c", "d"]);
});

test("small calls pass large ones that wait, up to a sixteenth of the budget beyond it", () => {
  const { join, log, release } = startReservations(1_600);
  const [large, small] = [join("t1"), join("t2")];
  large.reserve("running", 1_600);
  large.reserve("waiting", 1_600);
  for (let index = 0; index < 5; index += 1) small.reserve(`small${index}`, 25);
  expect(log).toEqual(["running", "small0", "small1", "small2", "small3"]);
  release("small1");
  expect(log.at(-1)).toBe("small4");
  release("running");
  expect(log.at(-1)).toBe("waiting");
});

test("the tenant that uses least is next, whatever another tenant waits for", () => {
  const { join, log, release } = startReservations(1_000);
  const [busy, other] = [join("busy"), join("other")];
  for (let index = 0; index < 6; index += 1) busy.reserve(`busy${index}`, 400);
  other.reserve("other", 500);
  expect(log).toEqual(["busy0", "busy1"]);
  release("busy0");
  expect(log).toEqual(["busy0", "busy1", "other"]);
});

test("memory that a call does not take goes to the next one", () => {
  const { join, log, release } = startReservations(1_000);
  const [first, stopped, last] = [join("t1"), join("t1", false), join("t1")];
  first.reserve("first", 1_000);
  stopped.reserve("stopped", 1_000);
  stopped.leave();
  last.reserve("last", 1_000);
  release("first");
  expect(log).toEqual(["first", "last"]);
});

test("results are counted at once: outputs are dropped for them, and calls wait", async () => {
  const { memory, join, log } = startReservations(1_000);
  let held = 900;
  const outputs = memory.join({ heldBytes: () => held, drop: (toBytes) => void (held = toBytes) });
  outputs.changed();
  const end = memory.use(700);
  join("t1").reserve("call", 400);
  await Promise.resolve();
  expect([held, log]).toEqual([300, []]);
  end();
  expect(log).toEqual(["call"]);
});
