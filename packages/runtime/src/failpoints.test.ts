import { describe, expect, test } from "vitest";
import { createFailpoints, FailpointError, FailpointInvalidError } from "./failpoints.ts";

const KNOWN = { write: "executor.result", read: "executor.call" };
const said: string[] = [];
const stderr = { write: (text: string) => void said.push(text) };
const createPort = () => ({
  written: 0,
  async write(value: number) {
    this.written += value;
    return value;
  },
  read: () => 7,
});

describe("failpoints", () => {
  test("do not change a port without a setting", () => {
    const port = createPort();
    expect(createFailpoints("", stderr, KNOWN).around(port, { write: "executor.result" })).toBe(port);
  });

  test("fail before the operation", async () => {
    const port = createPort();
    const failing = createFailpoints("executor.result.before=error", stderr, KNOWN).around(port, {
      write: "executor.result",
    });
    expect(() => failing.write(1)).toThrow(FailpointError);
    expect(port.written).toBe(0);
    expect(said).toEqual(["failpoint executor.result.before=error\n"]);
    await expect(failing.write(1)).resolves.toBe(1);
  });

  test("fail after the operation, as when the answer is lost", async () => {
    const port = createPort();
    const failing = createFailpoints("executor.result.after=error@2", stderr, KNOWN).around(port, {
      write: "executor.result",
    });
    await expect(failing.write(1)).resolves.toBe(1);
    await expect(failing.write(1)).rejects.toBeInstanceOf(FailpointError);
    expect(port.written).toBe(2);
  });

  test("act on synchronous methods, once", () => {
    const failing = createFailpoints("executor.call.after=error", stderr, KNOWN).around(createPort(), {
      read: "executor.call",
    });
    expect(() => failing.read()).toThrow(FailpointError);
    expect(failing.read()).toBe(7);
  });

  test.each(["x", "executor.result=kill", "executor.result.before=explode", "executor.unknown.before=kill"])(
    "refuse %s and list the known places",
    (setting) => {
      expect(() => createFailpoints(setting, stderr, KNOWN)).toThrow(FailpointInvalidError);
      expect(() => createFailpoints(setting, stderr, KNOWN)).toThrow("executor.call.after");
    },
  );
});
