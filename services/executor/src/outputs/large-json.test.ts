import type { UnresolvedArguments } from "@planwright/engine";
import { type JsonObject, LARGE_JSON_BYTES, PlanSchema } from "@planwright/plan";
import { expect, test } from "vitest";
import { createLargeJson } from "./large-json.ts";

/** Large arguments of a step that inserts the output of `read`. */
async function resolve(written: JsonObject, inserted = "x".repeat(LARGE_JSON_BYTES)) {
  const largeJson = createLargeJson();
  const { steps, policy } = PlanSchema.parse({
    steps: [{ id: "use", tool: "save", arguments: written, dependsOn: [] }],
  });
  const [step] = steps;
  if (!step) throw new TypeError("There is no step");
  const unresolved: UnresolvedArguments = {
    bytes: LARGE_JSON_BYTES,
    step,
    tool: { name: "save", descriptor: undefined, batch: undefined },
    policy,
    outputs: [["read", { text: inserted, form: "secret://key" }]],
    stored: [],
    texts: [],
    merged: [],
    required: [],
    units: [{ key: "use" }],
    isBatch: false,
    hashesItems: false,
  };
  const secrets = [
    { keys: ["auth", 0], name: "key" },
    { keys: ["form"], name: "key" },
  ];
  const resolved = await largeJson.resolve(unresolved, { isApproved: true, secrets });
  if (!resolved.large) throw new TypeError("The arguments are not large");
  const { large } = resolved;
  const bytes = await largeJson.fill(large, new Map([["key", "value of the key"]]));
  const filled: JsonObject = JSON.parse(new TextDecoder().decode(bytes));
  return { large, filled };
}

test("secrets are filled into large arguments where the plan names them; what is kept of them has the names", async () => {
  const written = { auth: ["secret://key"], text: "<<read.text>>", form: "another form" };
  const { large, filled } = await resolve(written);
  expect(large.secrets).toEqual([{ keys: ["auth", 0], name: "key" }]);
  expect(large.beginning).toContain('"secret://key"');
  expect(filled).toEqual({ ...written, auth: ["value of the key"], text: "x".repeat(LARGE_JSON_BYTES) });
});

test("arguments are large by their bytes, whatever their number of characters", async () => {
  const inserted = "ä".repeat(LARGE_JSON_BYTES / 2);
  const { filled } = await resolve({ text: "<<read.text>>" }, inserted);
  expect(filled).toEqual({ text: inserted });
});
