/**
 * The memory of an answer is counted from the sizes in the heads, so that too much is refused before any of
 * it is
 * read.
 */
import type { StepRun } from "@planwright/engine";
import { PlanIdSchema } from "@planwright/plan";
import type { ClientStore, OutputRef, PlanHead } from "@planwright/store";
import { describe, expect, test } from "vitest";
import { AnswerTooLargeError } from "../src/errors/api-error.ts";
import { createReads, type Reads } from "../src/operation/reads.ts";
import { readResults } from "../src/resolvers/older-api.ts";
import { answerBytes } from "./answer-bytes.ts";

const MIB = 1_048_576;
/** An answer may have 8 MiB, and twice as much may be read for it. */
const PLANS = Array.from({ length: 20 }, (_, index) =>
  PlanIdSchema.parse(`plan_0123456789_0123456789abcde${index.toString(32)}`),
);

type Large = Pick<
  ClientStore,
  | "getPlanHeads"
  | "listStepHeads"
  | "readUnits"
  | "readPlanGraphs"
  | "readPlanTexts"
  | "readPlanResults"
  | "readStepValues"
  | "readOutputs"
>;

/** Reads of a store in which each part of a plan has this size; the reads are recorded. */
function readsOf(partBytes: number, steps = 1) {
  const read: string[] = [];
  const note = (name: string) => async () => {
    read.push(name);
    return [];
  };
  const store: Large = {
    getPlanHeads: async (_tenant, ids) =>
      ids.map(
        (id) =>
          ({
            _id: id,
            steps,
            graphBytes: partBytes,
            textBytes: partBytes,
            resultBytes: partBytes,
          }) as PlanHead,
      ),
    listStepHeads: note("step heads"),
    async readUnits() {
      read.push("step pages");
      return null;
    },
    readPlanGraphs: note("graphs"),
    readPlanTexts: note("texts"),
    readPlanResults: note("results"),
    async readStepValues(_tenant, _steps, { body }) {
      read.push(body ? "bodies" : "outputs");
      return [];
    },
    async readOutputs() {
      read.push("separately stored outputs");
      return new Map();
    },
  };
  return { read, reads: createReads(store as ClientStore, "default", answerBytes()) };
}

const stepOf = (planId: string, bytes: number, outputRef?: OutputRef) =>
  ({
    planId,
    key: "a",
    status: "COMPLETED",
    attempts: [],
    error: { code: "C", message: "", retryable: false, dataBytes: bytes },
    arguments: null,
    outputBytes: bytes,
    outputRef,
  }) as unknown as StepRun;
const refOf = (id: string, sizeBytes: number) => ({ id, sizeBytes, parts: 1, preview: "" }) as OutputRef;

const WAYS: [string, (reads: Reads, partBytes: number) => Promise<unknown>][] = [
  ["graphs", (reads) => Promise.all(PLANS.map((id) => reads.graph(id)))],
  ["texts", (reads) => Promise.all(PLANS.map((id) => reads.texts(id)))],
  ["results", (reads) => Promise.all(PLANS.map((id) => reads.results(id)))],
  ["bodies", (reads, bytes) => Promise.all(PLANS.map((id) => reads.withBody(stepOf(id, bytes))))],
  ["outputs", (reads, bytes) => Promise.all(PLANS.map((id) => reads.wholeOutput(stepOf(id, bytes))))],
  [
    "separately stored outputs",
    (reads, bytes) => Promise.all(PLANS.map((id) => reads.wholeOutput(stepOf(id, 0, refOf(id, bytes))))),
  ],
];

describe.each(WAYS)("%s", (name, readAll) => {
  test("are read up to the limit of an answer", async () => {
    const { reads, read } = readsOf(MIB / 2);
    await readAll(reads, MIB / 2);
    expect(new Set(read)).toEqual(new Set([name]));
  });

  test("that are too large together are refused, and none of them is read", async () => {
    const { reads, read } = readsOf(MIB);
    await expect(readAll(reads, MIB)).rejects.toThrow(AnswerTooLargeError);
    expect(read).toEqual([]);
  });
});

test("too many steps are refused before any is read, as a list or in pages", async () => {
  const many = readsOf(0, 1_500);
  await expect(Promise.all(PLANS.map((id) => many.reads.steps(id)))).rejects.toThrow(AnswerTooLargeError);
  const page = { first: 1_500, after: null } as unknown as Parameters<Reads["stepPage"]>[1];
  await expect(Promise.all(PLANS.map((id) => many.reads.stepPage(id, page)))).rejects.toThrow(
    AnswerTooLargeError,
  );
  expect(many.read).toEqual([]);
  const few = readsOf(0, 1_000);
  await Promise.all(PLANS.map((id) => few.reads.steps(id)));
  expect(few.read).toEqual(["step heads"]);
});

test("results for older clients are text inside text, and count each time that they are made", async () => {
  const bytes = answerBytes();
  const steps = Array.from({ length: 200 }, (_, index) => ({
    ...stepOf("p", 0),
    key: `s${index}`,
    stepId: `s${index}`,
    item: null,
    tool: "t",
    error: null,
  }));
  const reads = {
    plan: async () => ({ status: "COMPLETED", error: null }),
    graph: async () => ({ plan: null }),
    steps: async () => steps,
    withBody: async () => ({ arguments: { value: { text: "x".repeat(30_000) } } }),
    output: async () => ({ value: null }),
    once: (_name: string, make: () => Promise<unknown>) => make(),
  } as unknown as Reads;
  const [planId] = PLANS;
  await readResults(planId!, { bytes, reads });
  await expect(readResults(planId!, { bytes, reads })).rejects.toThrow(AnswerTooLargeError);
});
