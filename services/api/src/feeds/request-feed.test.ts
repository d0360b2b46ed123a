import { expect, test } from "vitest";
import { createRequestFeed } from "./request-feed.ts";

test("readers of a request that was removed after they found it are ended, and give their places back", async () => {
  let left = 0;
  let idle = 0;
  const feed = createRequestFeed({
    store: { getRequest: async () => null, getPlanHeads: async () => [], listStepHeads: async () => [] },
    tenant: "t1",
    requestId: "req_1700000000_aaaaaaaaaaaaaaaaaaaa",
    onIdle: () => {
      idle += 1;
    },
  });
  const leave = (): void => {
    left += 1;
  };
  const readers = [feed.follow(leave), feed.follow(leave)];
  const ends = await Promise.all(readers.map((reader) => reader.next()));
  expect(ends.map(({ done }) => done)).toEqual([true, true]);
  expect([left, idle]).toEqual([2, 1]);
});
