import { expect, test } from "vitest";
import { StoreUnavailableError, WriteNotPossibleError } from "../records/errors.ts";
import type { RequestDocument } from "../records/request-document.ts";
import { type AcceptanceLog, type AcceptedEntry, createAccept } from "./acceptance.ts";

const work = (id: string): AcceptedEntry => ({ request: { _id: id } as unknown as RequestDocument });

class AwayError extends Error {
  override readonly name = "MongoNetworkError";
}

/** Acceptance over a log that does what the test says. */
function accepting(
  insert: (ids: string[]) => Promise<void>,
  keyed: AcceptanceLog["insertKeyed"] = async () => true,
) {
  const clock = { nowMs: 0 };
  const bulks: string[][] = [];
  const accept = createAccept({
    log: {
      async insert(accepted) {
        const ids = accepted.map(({ request }): string => request._id);
        bulks.push(ids);
        await insert(ids);
      },
      insertKeyed: keyed,
    },
    monotonic: () => clock.nowMs,
    sleep: async (ms) => void (clock.nowMs += ms),
  });
  return { accept, bulks, clock };
}

test("work of one turn is one bulk; while two bulks are in flight later work waits", async () => {
  const open: (() => void)[] = [];
  const { accept, bulks } = accepting(() => new Promise((resolve) => open.push(resolve)));
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const all: Promise<void>[] = [];
  for (const ids of [["a", "b"], ["c"], ["d"], ["e", "f"]]) {
    all.push(...ids.map((id) => accept.store(work(id))));
    await turn();
  }
  expect(bulks).toEqual([["a", "b"], ["c"]]);
  open[0]?.();
  await turn();
  await turn();
  expect(bulks.at(-1)).toEqual(["d", "e", "f"]);
  for (const resolve of open) resolve();
  await Promise.all(all);
  await accept.idle();
});

test("an insert without an answer is sent again until its timeout", async () => {
  let failures = 3;
  const { accept, bulks, clock } = accepting(async () => {
    if (failures-- > 0) throw new AwayError("away");
  });
  await accept.store(work("a"));
  expect(bulks).toHaveLength(4);
  failures = Number.POSITIVE_INFINITY;
  clock.nowMs = 0;
  await expect(accept.store(work("b"))).rejects.toBeInstanceOf(StoreUnavailableError);
  expect(clock.nowMs).toBeGreaterThan(10_000);
});

test("work that cannot be stored fails alone", async () => {
  const { accept } = accepting(async (ids) => {
    if (ids.includes("bad")) throw new TypeError("it is too large");
  });
  const results = await Promise.allSettled(["a", "bad", "b"].map((id) => accept.store(work(id))));
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(results[1]).toMatchObject({ reason: { facts: { ids: ["bad"] } } });
  expect((results[1] as PromiseRejectedResult).reason).toBeInstanceOf(WriteNotPossibleError);
});

test("an insert under a key is sent again until there is an answer, which may be false", async () => {
  let failures = 2;
  const { accept } = accepting(
    async () => undefined,
    async () => {
      if (failures-- > 0) throw new AwayError("away");
      return false;
    },
  );
  expect(await accept.storeKeyed(work("a"))).toBe(false);
});
