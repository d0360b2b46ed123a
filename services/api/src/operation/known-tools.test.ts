import type { ToolDescriptor } from "@planwright/plan";
import { expect, test } from "vitest";
import { createKnownTools } from "./context.ts";

function known() {
  const clock = { nowMs: 0 };
  const published = new Set(["a"]);
  const reads: (string | undefined)[] = [];
  const toolCatalogue = async (tenant?: string): Promise<ToolDescriptor[]> => {
    reads.push(tenant);
    if (published.has("broken")) throw new TypeError("MongoDB is away");
    return [...published].map((name) => ({ name, inputSchema: { type: "object" } }));
  };
  const tools = createKnownTools({ toolCatalogue, leftOutTools: async () => [] }, () => clock.nowMs);
  const names = (tenant = "t1", isGood: (names: string[]) => boolean = () => true) =>
    tools.ask(tenant, (found) => found.map(({ name }) => name), isGood);
  return { clock, published, reads, names };
}

test("all calls within a second need one read for each tenant", async () => {
  const { clock, reads, names } = known();
  await Promise.all([names(), names(), names("t2")]);
  clock.nowMs = 1_000;
  expect(await names()).toEqual(["a"]);
  expect(reads).toEqual(["t1", "t2"]);
  clock.nowMs = 1_001;
  await names();
  expect(reads).toEqual(["t1", "t2", "t1"]);
});

test("an answer that is not good is computed again with the current catalogue", async () => {
  const { clock, published, reads, names } = known();
  await names();
  published.add("b");
  clock.nowMs = 10;
  expect(await names("t1", (found) => found.includes("b"))).toEqual(["a", "b"]);
  expect(await names("t1", (found) => found.includes("b"))).toEqual(["a", "b"]);
  expect(reads).toHaveLength(2);
});

test("an answer that stays not good is computed only once more", async () => {
  const { clock, reads, names } = known();
  expect(await names("t1", () => false)).toEqual(["a"]);
  expect(reads).toHaveLength(1);
  clock.nowMs = 10;
  expect(await names("t1", () => false)).toEqual(["a"]);
  expect(reads).toHaveLength(2);
});

test("a failed read is not cached", async () => {
  const { published, names } = known();
  published.add("broken");
  await expect(names()).rejects.toThrow("MongoDB is away");
  published.delete("broken");
  expect(await names()).toEqual(["a"]);
});
