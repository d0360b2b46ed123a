import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { testAndProof } from "@planwright/testing";
import { expect, onTestFinished, test } from "vitest";
import { boundLog, MAX_LOG_BYTES } from "../src/child.ts";
import { ProcessNotReadyError, startChild } from "../src/index.ts";

const PARENT = fileURLToPath(new URL("./fixtures/parent.ts", import.meta.url));

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "planwright-child-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** False also for a zombie: a process that has ended, but whose parent has not read its exit code. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const stat = `/proc/${pid}/stat`;
  return !existsSync(stat) || !/\) [ZX] /.test(readFileSync(stat, "utf8"));
}

async function pidIn(file: string): Promise<number> {
  const pid = () => Number(readFileSync(file, "utf8"));
  await expect.poll(pid).toBeGreaterThan(0);
  return pid();
}

const CASES = [
  ["SIGKILL", "a child that ends on SIGTERM", ""],
  ["SIGTERM", "a child that ends on SIGTERM", ""],
  ["SIGINT", "a child that ends on SIGTERM", ""],
  ["SIGKILL", "a child that ignores SIGTERM", "trap '' TERM; "],
] as const;

/** A parent that cannot end its children, and one that can. `npm run proof` has the others. */
const IN_TEST = [
  "SIGKILL of the parent of a child that ignores SIGTERM",
  "SIGTERM of the parent of a child that ends on SIGTERM",
];

for (const { cases, options } of testAndProof(
  CASES,
  ([signal, what]) => `${signal} of the parent of ${what}`,
  IN_TEST,
))
  test.each(cases)(
    "after %s of its parent %s ends, with its children",
    options,
    async (signal, _what, trap) => {
      const grandchildFile = join(folder(), "grandchild");
      const script = `${trap}sleep 300 & echo $! > ${grandchildFile}; while :; do wait; sleep 1; done`;
      const args = ["--import", "tsx", "-C", "@planwright/source", PARENT, join(folder(), "log"), script];
      const parent = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
      onTestFinished(() => void parent.kill("SIGKILL"));
      const [line] = await once(parent.stdout, "data");
      const pids = [Number(line), await pidIn(grandchildFile)];
      expect(pids.map(isAlive)).toEqual([true, true]);
      parent.kill(signal);
      await expect.poll(() => pids.map(isAlive)).toEqual([false, false]);
    },
  );

test("a child that ends before it is ready is an error with its last lines and the path of the log", async () => {
  const logFile = join(folder(), "log");
  const script = "echo old; exit 0";
  await (await startChild({ name: "old", command: "sh", args: ["-c", script], logFile })).exited;
  const child = await startChild({
    name: "Server",
    command: "sh",
    args: ["-c", "echo no disk >&2; exit 3"],
    logFile,
  });
  const error = await child.ready(() => Promise.resolve(false)).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ProcessNotReadyError);
  expect(String(error)).toContain("Server exited with code 3");
  expect(String(error)).toContain("no disk");
  expect(String(error)).toContain(logFile);
  expect(String(error)).not.toContain("old");
});

test("a child that does not become ready in time is an error, and stop kills it", async () => {
  const logFile = join(folder(), "log");
  const script = "trap '' TERM; while :; do sleep 1; done";
  const child = await startChild({ name: "Server", command: "sh", args: ["-c", script], logFile });
  await expect(child.ready(() => Promise.reject(new TypeError("refused")), 50)).rejects.toThrow(
    "not ready after 50 ms",
  );
  await child.stop(50);
  expect(child.ended()).toBe("was ended by SIGKILL");
});

test("a child that is stopped may use its own children until it ends; then they end too", async () => {
  const grandchildFile = join(folder(), "grandchild");
  const script = `sleep 300 & child=$!; trap 'sleep 0.3; kill -0 $child; exit' TERM; echo $child > ${grandchildFile}; while :; do sleep 0.05; done`;
  const logFile = join(folder(), "log");
  const child = await startChild({ name: "Server", command: "sh", args: ["-c", script], logFile });
  const grandchild = await pidIn(grandchildFile);
  await child.stop();
  expect(child.ended()).toBe("exited with code 0");
  await expect.poll(() => isAlive(grandchild)).toBe(false);
});

test("a command that does not exist is an error immediately", async () => {
  const starting = startChild({
    name: "Server",
    command: "/no/such/server",
    args: [],
    logFile: join(folder(), "log"),
  });
  await expect(starting).rejects.toThrow("could not be started");
});

test("a growing log file is kept at its bound, with an older one beside it", async () => {
  const logFile = join(folder(), "log");
  const script = "while :; do printf '%01000d\\n' 7; sleep 0.001; done";
  const child = await startChild({ name: "writer", command: "sh", args: ["-c", script], logFile });
  onTestFinished(() => child.kill());
  const stopBounding = boundLog(logFile, { maxBytes: 50_000, checkEveryMs: 10 });
  onTestFinished(stopBounding);
  await expect.poll(() => existsSync(`${logFile}.1`), { timeout: 10_000 }).toBe(true);
  const older = () => statSync(`${logFile}.1`).mtimeMs;
  const first = older();
  await expect.poll(older, { timeout: 10_000 }).toBeGreaterThan(first);
  expect(statSync(logFile).size).toBeLessThan(100_000);
  expect(statSync(`${logFile}.1`).size).toBeLessThan(100_000);
});

test("the start of a process bounds a log file that is too large", async () => {
  const logFile = join(folder(), "log");
  writeFileSync(logFile, "x".repeat(MAX_LOG_BYTES + 1));
  const child = await startChild({ name: "sleeper", command: "sleep", args: ["60"], logFile });
  onTestFinished(() => child.kill());
  expect(statSync(logFile).size).toBe(0);
  expect(statSync(`${logFile}.1`).size).toBe(MAX_LOG_BYTES + 1);
});

test("a log file that cannot be copied, as on a full disk, is emptied, and its process runs", async () => {
  const logFile = join(folder(), "log");
  mkdirSync(`${logFile}.1`); // a copy to it fails
  writeFileSync(logFile, "x".repeat(MAX_LOG_BYTES + 1));
  const child = await startChild({ name: "sleeper", command: "sleep", args: ["60"], logFile });
  onTestFinished(() => child.kill());
  expect(statSync(logFile).size).toBe(0);
  expect(child.ended()).toBeUndefined();
  const stopBounding = boundLog(logFile, { maxBytes: 10, checkEveryMs: 10 });
  onTestFinished(stopBounding);
  mkdirSync(`${logFile}.1`, { recursive: true });
  writeFileSync(logFile, "x".repeat(100));
  await expect.poll(() => statSync(logFile).size, { timeout: 10_000 }).toBe(0);
});

test("the last lines of a process are shown also when its log file was emptied at its start", async () => {
  const logFile = join(folder(), "log");
  writeFileSync(logFile, "x".repeat(MAX_LOG_BYTES + 1));
  const args = ["-c", "echo no more space; exit 1"];
  const child = await startChild({ name: "fails", command: "sh", args, logFile });
  await expect(child.ready(() => Promise.resolve(false))).rejects.toThrow("no more space");
});
