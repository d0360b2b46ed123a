import { expect, test } from "vitest";
import { histogramsOf } from "./fold.ts";

const item = (id: string, index: number | null, status: string) => ({
  id,
  item: index,
  status: status as never,
});

test("items are counted by list and status, failures first, and a step without items has no histogram", () => {
  const histograms = histogramsOf([
    item("send", null, "RUNNING"),
    item("send", 0, "COMPLETED"),
    item("send", 1, "FAILED"),
    item("send", 2, "COMPLETED"),
    item("send", 3, "PENDING"),
    item("other", null, "COMPLETED"),
  ]);
  expect([...histograms]).toEqual([
    [
      "send",
      {
        total: 4,
        bins: [
          { status: "FAILED", count: 1 },
          { status: "COMPLETED", count: 2 },
          { status: "PENDING", count: 1 },
        ],
      },
    ],
  ]);
});

test("an unknown status is counted too, after the others", () => {
  const bins = histogramsOf([item("a", 0, "MOVED"), item("a", 1, "PENDING")]).get("a")?.bins;
  expect(bins?.map(({ status }) => status)).toEqual(["PENDING", "MOVED"]);
});
