import { expect, test } from "vitest";
import { createTenantReads } from "./read-lists.ts";

function reads() {
  const queries: [tenant: string, ids: string[]][] = [];
  const read = createTenantReads(
    async (tenant, ids: string[]) => {
      queries.push([tenant, ids]);
      return ids.flatMap((id) => (id === "unknown" ? [] : { id, of: `${tenant}'s` }));
    },
    ({ id }) => id,
  );
  return { read, queries };
}

test("ids that are read in one turn are one query for each tenant", async () => {
  const { read, queries } = reads();
  const asked = [
    { tenant: "a", id: "1" },
    { tenant: "b", id: "1" },
    { tenant: "a", id: "1" },
    { tenant: "a", id: "unknown" },
  ];
  const found = await Promise.all(asked.map(({ tenant, id }) => read(tenant, id)));
  expect(queries).toEqual([
    ["a", ["1", "unknown"]],
    ["b", ["1"]],
  ]);
  expect(found.map((one) => one?.of)).toEqual(["a's", "b's", "a's", undefined]);
});

test("results are not cached for the next turn", async () => {
  const { read, queries } = reads();
  await read("a", "1");
  await read("a", "1");
  expect(queries).toHaveLength(2);
});

test("a query that fails rejects all its callers, and no later query", async () => {
  let isAway = true;
  const read = createTenantReads(
    async (_tenant, ids: string[]) => {
      if (isAway) throw new TypeError("away");
      return ids;
    },
    (id) => id,
  );
  const ended = await Promise.allSettled([read("a", "1"), read("b", "2")]);
  expect(ended.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  isAway = false;
  expect(await read("a", "1")).toBe("1");
});
