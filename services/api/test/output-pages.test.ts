import { setImmediate as turn } from "node:timers/promises";
import { PlanIdSchema } from "@planwright/plan";
import type { ClientStore, PlanUnits } from "@planwright/store";
import { expect, test } from "vitest";
import type { GraphqlContext } from "../src/operation/context.ts";
import { readOutputPage } from "../src/operation/output-page.ts";
import { answerBytes } from "./answer-bytes.ts";

const MIB = 1_048_576;
const planId = PlanIdSchema.parse("plan_0123456789_0123456789abcdef");

test("the pages of one answer are cut from one document after another, with one grant of the budget", async () => {
  const texts: { [key: string]: string } = { s0: "x".repeat(2 * MIB), s1: "y".repeat(8 * MIB) };
  const bytes = answerBytes();
  let open = 0;
  let mostOpen = 0;
  const units = new Map(
    Object.entries(texts).map(([key, { length: sizeBytes }]) => {
      const outputRef = { id: key, sizeBytes, parts: 1, preview: "" };
      return [key, { key, stepId: key, status: "COMPLETED", attempts: [], outputRef }];
    }),
  );
  const steps = Object.keys(texts).map((id) => ({ id, tool: "t", hasCauses: false }));
  const store: Pick<ClientStore, "readUnits" | "measureOutputParts" | "readOutputPart"> = {
    readUnits: async () => ({ outline: { planId, steps }, plan: { units } }) as unknown as PlanUnits,
    measureOutputParts: async (_tenant, { sizeBytes }) => [sizeBytes],
    async readOutputPart(_tenant, { id }) {
      mostOpen = Math.max(mostOpen, ++open);
      expect(bytes.limits.budget.heldBytes()).toBeGreaterThanOrEqual(2 * texts[id]!.length);
      await turn();
      open -= 1;
      return Buffer.from(texts[id]!);
    },
  };
  const context = { store, tenant: "default", bytes } as unknown as GraphqlContext;
  const pages = await Promise.all(
    ["s0", "s1", "s0", "s1"].map((key) =>
      readOutputPage({ ref: `${planId}/steps/${key}`, offset: 0, maxBytes: 4 }, context),
    ),
  );
  expect(pages.map(({ text }) => text)).toEqual(["xxxx", "yyyy", "xxxx", "yyyy"]);
  expect(mostOpen).toBe(1);
});
