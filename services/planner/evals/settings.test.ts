import { expect, test } from "vitest";
import { readSettings } from "./settings.ts";

test("without options recorded answers are played, for as long as it takes", () => {
  expect(readSettings([])).toEqual({
    model: null,
    domain: null,
    update: false,
    json: false,
    maxSeconds: null,
  });
});

test("a longest duration is read in seconds", () => {
  expect(readSettings(["--max-seconds", "60"]).maxSeconds).toBe(60);
});

test.each(["0", "-1", "soon", ""])("--max-seconds=%s is refused", (seconds) => {
  expect(() => readSettings([`--max-seconds=${seconds}`])).toThrow(
    expect.objectContaining({ code: "SETTINGS_INVALID", message: expect.stringContaining("--max-seconds") }),
  );
});
