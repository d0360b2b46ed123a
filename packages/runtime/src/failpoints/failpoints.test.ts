import { describe, expect, test } from "vitest";
import { createFailpoints, FailpointError, FailpointInvalidError } from "./failpoints.ts";

const KNOWN = { write: "executor.result", read: "executor.call" };
const createPort = () => ({
  written: 0,
  async write(value: number) {
    this.written += value;
    return value;
  },
  read: () => 7,
});

describe("failpoints", () => {
  test("leave a port as it is without a setting", () => {
    const port = createPort();
    expect(createFailpoints("", KNOWN).around(port, { write: "executor.result" })).toBe(port);
  });

  test("fail before the operation happened", async () => {
    const port = createPort();
    const failing = createFailpoints("executor.result.before=error", KNOWN).around(port, {
      write: "executor.result",
    });
    expect(() => failing.write(1)).toThrow(FailpointError);
    expect(port.written).toBe(0);
    await expect(failing.write(1)).resolves.toBe(1);
  });

  test("fail after it happened, when the answer is lost", async () => {
    const port = createPort();
    const failing = createFailpoints("executor.result.after=error@2", KNOWN).around(port, {
      write: "executor.result",
    });
    await expect(failing.write(1)).resolves.toBe(1);
    await expect(failing.write(1)).rejects.toBeInstanceOf(FailpointError);
    expect(port.written).toBe(2);
  });

  test("act on methods that do not wait, and leave others alone", () => {
    const failing = createFailpoints("executor.call.after=error", KNOWN).around(createPort(), {
      read: "executor.call",
    });
    expect(() => failing.read()).toThrow(FailpointError);
    expect(failing.read()).toBe(7);
  });

  test.each(["x", "executor.result=kill", "executor.result.before=explode", "executor.unknown.before=kill"])(
    "refuse %s and name the places that there are",
    (setting) => {
      expect(() => createFailpoints(setting, KNOWN)).toThrow(FailpointInvalidError);
      expect(() => createFailpoints(setting, KNOWN)).toThrow("executor.call.after");
    },
  );
});
