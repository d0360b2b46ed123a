import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import {
  growingDelayMs,
  type ManagedProcess,
  type SuperviseOptions,
  startChild,
  supervise,
  type UnexpectedEnd,
} from "../src/index.ts";

interface Setup {
  ends: UnexpectedEnd[];
  /** While this file exists, a start ends with exit code 3. */
  forbid(): void;
  allow(): void;
  options: SuperviseOptions;
}

/** A process that sleeps and is ready immediately. */
function setup(script = "sleep 600"): Setup {
  const folder = mkdtempSync(join(tmpdir(), "planwright-supervise-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const forbidden = join(folder, "forbidden");
  const ends: UnexpectedEnd[] = [];
  const args = ["-c", `[ -e ${forbidden} ] && { echo forbidden; exit 3; }; ${script}`];
  return {
    ends,
    forbid: () => writeFileSync(forbidden, ""),
    allow: () => rmSync(forbidden),
    options: {
      name: "sleeper",
      spawn: () => startChild({ name: "sleeper", command: "sh", args, logFile: join(folder, "log") }),
      isReady: async () => !existsSync(forbidden),
      onUnexpectedEnd: (end) => void ends.push(end),
      restartDelayMs: (attempt) => attempt,
    },
  };
}

async function started(options: SuperviseOptions): Promise<ManagedProcess> {
  const managed = await supervise(options);
  onTestFinished(() => managed.kill());
  return managed;
}

/** Kills the process from outside, and waits until its pid changes. */
async function killFromOutside(managed: ManagedProcess): Promise<void> {
  const before = managed.pid();
  if (before === undefined) throw new TypeError("The process does not run");
  process.kill(before, "SIGKILL");
  await expect.poll(() => managed.pid()).not.toBe(before);
}

test("a process that was killed from outside is started again, and its end is reported with the wait", async () => {
  const { options, ends } = setup();
  const managed = await started(options);
  await killFromOutside(managed);
  await expect.poll(() => managed.pid()).toBeTypeOf("number");
  expect(ends).toEqual([{ name: "sleeper", how: "was ended by SIGKILL", wasReady: true, restartsInMs: 1 }]);
});

test("a process that ends repeatedly is started after growing waits, until it runs", async () => {
  const { options, ends, forbid, allow } = setup();
  const managed = await started(options);
  forbid();
  await killFromOutside(managed);
  await expect.poll(() => ends.length).toBeGreaterThan(3);
  allow();
  await expect.poll(() => managed.pid()).toBeTypeOf("number");
  expect(ends.slice(0, 4).map(({ restartsInMs }) => restartsInMs)).toEqual([1, 2, 3, 4]);
  expect(ends[1]?.wasReady).toBe(false);
  expect(ends[1]?.how).toMatch(/exited with code 3.*forbidden/s);
});

test("waits grow from half a second to half a minute", () => {
  expect([1, 2, 3, 6, 7, 1_000].map(growingDelayMs)).toEqual([500, 1_000, 2_000, 16_000, 30_000, 30_000]);
});

test("a first start that ends by itself is an error with its last lines, and is not tried again", async () => {
  const { options, ends } = setup("echo wrong setting; exit 4");
  await expect(supervise({ ...options, isReady: async () => false })).rejects.toThrow(
    /exited with code 4.*wrong setting/s,
  );
  expect(ends).toEqual([]);
});

test("a first start that a signal ended is tried again", async () => {
  const { options } = setup();
  let starts = 0;
  const managed = await started({
    ...options,
    spawn: async () => {
      const child = await options.spawn();
      starts += 1;
      if (starts === 1) await child.kill();
      return child;
    },
  });
  expect(starts).toBe(2);
  expect(managed.pid()).toBeTypeOf("number");
});

test.each(["kill", "stop"] as const)(
  "a process that was ended by %s is not started until restart",
  async (how) => {
    const { options, ends } = setup();
    const managed = await started(options);
    await managed[how]();
    expect(managed.pid()).toBeUndefined();
    await managed.restart();
    expect(managed.pid()).toBeTypeOf("number");
    expect(ends).toEqual([]);
  },
);

test("a process that is stopped while it waits for its next start is not started", async () => {
  const { options, ends } = setup();
  let starts = 0;
  const managed = await started({
    ...options,
    spawn: () => {
      starts += 1;
      return options.spawn();
    },
    restartDelayMs: () => 1,
    onUnexpectedEnd: (end) => {
      ends.push(end);
      void managed.stop();
    },
  });
  await killFromOutside(managed);
  await managed.restart();
  expect(starts).toBe(2);
  expect(ends).toHaveLength(1);
});

test("without restartDelayMs a process that ended is not started again", async () => {
  const { options, ends } = setup();
  const managed = await started({ ...options, restartDelayMs: undefined });
  await killFromOutside(managed);
  await expect
    .poll(() => ends)
    .toEqual([{ name: "sleeper", how: "was ended by SIGKILL", wasReady: true, restartsInMs: undefined }]);
  expect(managed.pid()).toBeUndefined();
});

test("a process whose restart cannot be spawned can be stopped, and restarted afterwards", async () => {
  const { options } = setup();
  let isPossible = true;
  const spawn = () => (isPossible ? options.spawn() : Promise.reject(new Error("EAGAIN")));
  const managed = await started({ ...options, spawn, restartDelayMs: undefined });
  isPossible = false;
  await expect(managed.restart()).rejects.toThrow("EAGAIN");
  await managed.stop();
  isPossible = true;
  await managed.restart();
  expect(managed.pid()).toBeTypeOf("number");
});
