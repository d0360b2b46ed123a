import { expect, test } from "vitest";
import { createTenantReads } from "./read-group.ts";

function reads() {
  const questions: [tenant: string, ids: string[]][] = [];
  const read = createTenantReads(
    async (tenant, ids: string[]) => {
      questions.push([tenant, ids]);
      return ids.flatMap((id) =>
        id === "unknown"
          ? []
          : [
              { id, of: `${tenant}'s first` },
              { id, of: "second" },
            ],
      );
    },
    ({ id }) => id,
  );
  return { read, questions };
}

test("what is asked for in one turn is one question for each tenant", async () => {
  const { read, questions } = reads();
  const asked = [
    { tenant: "a", id: "1" },
    { tenant: "b", id: "1" },
    { tenant: "a", id: "1" },
    { tenant: "a", id: "unknown" },
  ];
  const found = await Promise.all(asked.map(read));
  expect(questions).toEqual([
    ["a", ["1", "unknown"]],
    ["b", ["1"]],
  ]);
  expect(found.map((list) => list.map(({ of }) => of))).toEqual([
    ["a's first", "second"],
    ["b's first", "second"],
    ["a's first", "second"],
    [],
  ]);
});

test("nothing is kept for the next turn", async () => {
  const { read, questions } = reads();
  await read({ tenant: "a", id: "1" });
  await read({ tenant: "a", id: "1" });
  expect(questions).toHaveLength(2);
});

test("a question that fails fails for all who asked it, and for no later question", async () => {
  let isAway = true;
  const read = createTenantReads(
    async (_tenant, ids: string[]) => {
      if (isAway) throw new TypeError("away");
      return ids;
    },
    (id) => id,
  );
  const ended = await Promise.allSettled([read({ tenant: "a", id: "1" }), read({ tenant: "b", id: "2" })]);
  expect(ended.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  isAway = false;
  expect(await read({ tenant: "a", id: "1" })).toEqual(["1"]);
});
