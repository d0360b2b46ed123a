import type { ToolDescriptor } from "@planwright/plan";
import { expect, test } from "vitest";
import { waitForCatalogue } from "./planning-graph.ts";

const TOOL: ToolDescriptor = { name: "greet" };
const never = new AbortController().signal;

/**
 * A store that returns these catalogues and numbers of executors one after the other, and repeats the last
 * ones.
 */
function storeOf(catalogues: readonly (readonly ToolDescriptor[])[], executors: readonly number[]) {
  let reads = 0;
  let counts = 0;
  return {
    toolCatalogue: async () => [...(catalogues[Math.min(reads++, catalogues.length - 1)] ?? [])],
    liveWorkers: async () => ({
      planner: 1,
      executor: executors[Math.min(counts++, executors.length - 1)] ?? 0,
      owners: new Set<string>(),
    }),
    reads: () => reads,
  };
}

test("existing tools are returned at once, with or without a live executor", async () => {
  const store = storeOf([[TOOL]], [0]);
  expect(await waitForCatalogue({ store }, "t", never)).toEqual([TOOL]);
  expect(store.reads()).toBe(1);
});

test("it waits for tools that an executor is about to publish", async () => {
  const store = storeOf([[], [], [], [TOOL]], [0, 0, 1]);
  expect(await waitForCatalogue({ store }, "t", never)).toEqual([TOOL]);
});

test("without an executor the wait ends after a timeout", async () => {
  expect(await waitForCatalogue({ store: storeOf([[]], [0]), catalogueWaitMs: 250 }, "t", never)).toEqual([]);
});

test("it stops waiting for a live executor that offers no tools", async () => {
  const store = storeOf([[]], [1]);
  expect(await waitForCatalogue({ store, catalogueWaitMs: 600_000 }, "t", never)).toEqual([]);
});

test("a planner that is stopped stops waiting", async () => {
  const stopping = new AbortController();
  const waiting = waitForCatalogue({ store: storeOf([[]], [0]) }, "t", stopping.signal);
  stopping.abort(new DOMException("stopping", "AbortError"));
  await expect(waiting).rejects.toThrow();
});
