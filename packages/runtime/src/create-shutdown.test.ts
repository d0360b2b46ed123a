import { EventEmitter, once } from "node:events";
import { expect, test } from "vitest";
import { createLogger } from "./create-logger.ts";
import { createShutdown, createStopSteps } from "./create-shutdown.ts";

/** A fake process: the same events, and an exit that only records its code. */
function fakeProcess() {
  const events = new EventEmitter();
  const exited = once(events, "exited");
  const process_ = Object.assign(events, {
    exit: (code?: number) => {
      events.emit("exited", code);
      return undefined as never;
    },
  });
  return { process: process_ as unknown as NodeJS.Process, events, exitCode: async () => (await exited)[0] };
}

function start(timeoutMs = 5_000) {
  const lines: string[] = [];
  const logger = createLogger({ service: "x", destination: { write: (line) => void lines.push(line) } });
  const fake = fakeProcess();
  return { ...fake, lines, shutdown: createShutdown({ logger, timeoutMs, process: fake.process }) };
}

test.each(["SIGTERM", "SIGINT"])(
  "%s runs the steps in the order of adding and ends with code 0",
  async (signal) => {
    const { shutdown, events, exitCode } = start();
    const order: string[] = [];
    shutdown.add("first", async () => {
      await new Promise(setImmediate);
      order.push("first");
    });
    shutdown.add("second", () => order.push("second"));
    events.emit(signal, signal);
    expect(await exitCode()).toBe(0);
    expect(order).toEqual(["first", "second"]);
    expect(shutdown.signal.aborted).toBe(true);
  },
);

test("a step that fails is logged, and the others still run", async () => {
  const { shutdown, events, exitCode, lines } = start();
  let isSecondRun = false;
  shutdown.add("first", () => Promise.reject(new TypeError("broken")));
  shutdown.add("second", () => {
    isSecondRun = true;
  });
  events.emit("SIGTERM", "SIGTERM");
  expect(await exitCode()).toBe(1);
  expect(isSecondRun).toBe(true);
  expect(lines.join("")).toContain("broken");
});

test("the process ends at the deadline, naming the step that hangs", async () => {
  const { shutdown, events, exitCode, lines } = start(20);
  shutdown.add("stuck", () => new Promise(() => undefined));
  events.emit("SIGTERM", "SIGTERM");
  expect(await exitCode()).toBe(1);
  expect(lines.join("")).toContain('"step":"stuck"');
});

test("steps that were added together run at the same time, and those that hang are named", async () => {
  const { shutdown, events, exitCode, lines } = start(20);
  const [one, other] = [
    createStopSteps({ error: () => undefined }),
    createStopSteps({ error: () => undefined }),
  ];
  one.add("plans", () => new Promise(() => undefined));
  other.add("requests", () => undefined);
  other.add("models", () => new Promise(() => undefined));
  shutdown.addTogether(one, other);
  events.emit("SIGTERM", "SIGTERM");
  expect(await exitCode()).toBe(1);
  expect(lines.join("")).toContain('"step":"plans, models"');
});

test("a second signal ends the process at once", async () => {
  const { shutdown, events, exitCode } = start();
  shutdown.add("stuck", () => new Promise(() => undefined));
  events.emit("SIGINT", "SIGINT");
  events.emit("SIGINT", "SIGINT");
  expect(await exitCode()).toBe(1);
});

test("the first signal after a stop that began without one ends nothing early", async () => {
  const { shutdown, events, exitCode } = start();
  let finish = (): void => undefined;
  shutdown.add("work", () => new Promise<void>((resolve) => (finish = resolve)));
  void shutdown.run("another process said so");
  events.emit("SIGINT", "SIGINT");
  finish();
  expect(await exitCode()).toBe(0);
});

test.each(["uncaughtException", "unhandledRejection"])(
  "%s is logged and ends in order with code 1",
  async (event) => {
    const { shutdown, events, exitCode, lines } = start();
    let isClosed = false;
    shutdown.add("close", () => {
      isClosed = true;
    });
    events.emit(event, new TypeError("not caught"));
    expect(await exitCode()).toBe(1);
    expect(isClosed).toBe(true);
    expect(lines.join("")).toContain("not caught");
  },
);
