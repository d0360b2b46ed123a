import { expect, test } from "vitest";
import { createDrafter, type Drafter } from "../src/index.ts";

const rules: Drafter = {
  name: "rules",
  kind: "offline",
  draft: () => Promise.reject(new Error("not called")),
  answer: () => Promise.reject(new Error("not called")),
};

test("MODEL=offline gives the drafter of the caller, and is refused without one", () => {
  expect(createDrafter({}, () => rules)).toBe(rules);
  expect(() => createDrafter({})).toThrow(
    expect.objectContaining({
      code: "MODEL_SETTING_INVALID",
      facts: { variable: "MODEL", setting: "offline" },
    }),
  );
});
