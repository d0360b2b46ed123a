import type { ToolDescriptor } from "@planwright/plan";
import { expect, test } from "vitest";
import { waitForCatalogue } from "./wait-for-catalogue.ts";

const TOOL: ToolDescriptor = { name: "greet" };
const never = new AbortController().signal;

/** A store whose catalogue and executors are as these say at each look, the last one for ever. */
function storeOf(catalogues: readonly (readonly ToolDescriptor[])[], executors: readonly number[]) {
  let looks = 0;
  let counts = 0;
  return {
    toolCatalogue: async () => [...(catalogues[Math.min(looks++, catalogues.length - 1)] ?? [])],
    liveWorkers: async () => ({
      planner: 1,
      executor: executors[Math.min(counts++, executors.length - 1)] ?? 0,
      owners: new Set<string>(),
    }),
    looks: () => looks,
  };
}

test("tools that are there are taken at once, whether an executor lives or not", async () => {
  const store = storeOf([[TOOL]], [0]);
  expect(await waitForCatalogue({ store }, "t", never)).toEqual([TOOL]);
  expect(store.looks()).toBe(1);
});

test("tools that an executor is about to publish are waited for", async () => {
  const store = storeOf([[], [], [], [TOOL]], [0, 0, 1]);
  expect(await waitForCatalogue({ store }, "t", never)).toEqual([TOOL]);
});

test("without an executor the wait has an end", async () => {
  expect(await waitForCatalogue({ store: storeOf([[]], [0]), catalogueWaitMs: 250 }, "t", never)).toEqual([]);
});

test("an executor that lives and offers nothing is not waited for any longer", async () => {
  const store = storeOf([[]], [1]);
  expect(await waitForCatalogue({ store, catalogueWaitMs: 600_000 }, "t", never)).toEqual([]);
});

test("a planner that is stopped waits no longer", async () => {
  const stopping = new AbortController();
  const waiting = waitForCatalogue({ store: storeOf([[]], [0]) }, "t", stopping.signal);
  stopping.abort(new DOMException("stopping", "AbortError"));
  await expect(waiting).rejects.toThrow();
});
