import { type Plan, parsePlan } from "@planwright/plan";
import { describe, expect, test } from "vitest";
import { comparePlans, f1Of } from "./compare-plans.ts";

type Call = { id: string; tool: string; arguments?: object; dependsOn?: string[] };

function planOf(...steps: Call[]): Plan {
  const read = parsePlan({ steps });
  expect(read.diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  if (!read.ok) expect.unreachable();
  return read.plan;
}

const alice = { id: "alice", tool: "author", arguments: { name: "Alice" } };
const bob = { id: "bob", tool: "author", arguments: { name: "Bob" } };
const blogOf = (id: string) => ({
  id: "blog",
  tool: "blog",
  arguments: { title: "Hi", by: `<<${id}._id>>` },
});

describe("comparePlans", () => {
  test("finds a plan equal to itself under other names and in another order", () => {
    const found = planOf(
      { id: "z", tool: "blog", arguments: { by: "{{x._id}}", title: "Hi" } },
      { ...bob, id: "y" },
      { ...alice, id: "x" },
    );
    expect(comparePlans(planOf(alice, bob, blogOf("alice")), found).isExact).toBe(true);
  });

  test("counts a reference to the wrong one of two similar steps as one wrong argument and one wrong edge", () => {
    const result = comparePlans(planOf(alice, bob, blogOf("alice")), planOf(alice, bob, blogOf("bob")));
    expect(result).toEqual({
      nodes: { right: 3, wrong: 0, missed: 0 },
      edges: { right: 0, wrong: 1, missed: 1 },
      arguments: { right: 3, wrong: 1, missed: 1 },
      isExact: false,
    });
  });

  test("distinguishes similar steps by the steps that they refer to", () => {
    const two = (first: string, second: string) => [
      { ...blogOf(first), id: "b1" },
      { ...blogOf(second), id: "b2" },
      { id: "c", tool: "comment", arguments: { on: "<<b2._id>>" } },
    ];
    const wanted = planOf(alice, bob, ...two("alice", "bob"));
    expect(comparePlans(wanted, planOf(alice, bob, ...two("bob", "alice"))).edges).toEqual({
      right: 2,
      wrong: 1,
      missed: 1,
    });
    const turned = planOf(bob, alice, ...two("alice", "bob"));
    expect(comparePlans(wanted, turned).isExact).toBe(true);
  });

  test("counts a forgotten step with its dependency and its arguments as missed", () => {
    const { nodes, edges, arguments: counted } = comparePlans(planOf(alice, blogOf("alice")), planOf(alice));
    expect(nodes).toEqual({ right: 1, wrong: 0, missed: 1 });
    expect(edges).toEqual({ right: 0, wrong: 0, missed: 1 });
    expect(counted).toEqual({ right: 1, wrong: 0, missed: 2 });
    expect(f1Of(nodes)).toBeCloseTo(2 / 3);
  });

  test("counts an extra step, and a repeated call, as wrong", () => {
    expect(comparePlans(planOf(alice), planOf(alice, bob)).nodes).toEqual({ right: 1, wrong: 1, missed: 0 });
    const twice = comparePlans(planOf(alice), planOf(alice, { ...alice, id: "again" }));
    expect(twice.arguments).toEqual({ right: 1, wrong: 1, missed: 0 });
  });

  test("treats an explicit dependency and a reference as the same edge, and ignores an implied one", () => {
    const chain = [alice, { ...blogOf("alice"), dependsOn: ["alice"] }];
    const last = { id: "c", tool: "comment", arguments: { on: "<<blog._id>>" } };
    const wanted = planOf(alice, blogOf("alice"), last);
    expect(comparePlans(wanted, planOf(...chain, { ...last, dependsOn: ["alice"] })).isExact).toBe(true);
  });

  test("compares lists and objects leaf by leaf and by type", () => {
    const step = (value: object) => planOf({ id: "a", tool: "mail", arguments: value });
    const { arguments: counted } = comparePlans(
      step({ to: ["a@b.io", "c@d.io"], options: { copies: 1, tags: [] } }),
      step({ to: ["a@b.io"], options: { copies: "1", tags: [] } }),
    );
    expect(counted).toEqual({ right: 2, wrong: 1, missed: 2 });
  });

  test("counts everything as missed without a plan", () => {
    expect(comparePlans(planOf(alice, bob), null)).toMatchObject({
      nodes: { right: 0, wrong: 0, missed: 2 },
      isExact: false,
    });
  });

  test("compares the list, the tool and the arguments of a forEach", () => {
    const each = (items: string[], tool = "mail") =>
      parsePlan({
        steps: [{ id: "a", forEach: { items, as: "to", do: { tool, arguments: { to: "<<to>>" } } } }],
      });
    const wanted = each(["x", "y"]);
    const shorter = each(["x"]);
    if (!wanted.ok || !shorter.ok) expect.unreachable();
    expect(comparePlans(wanted.plan, wanted.plan).isExact).toBe(true);
    expect(comparePlans(wanted.plan, shorter.plan).arguments).toEqual({ right: 2, wrong: 0, missed: 1 });
    const once = planOf({ id: "a", tool: "mail", arguments: { to: "x" } });
    expect(comparePlans(wanted.plan, once).nodes).toEqual({ right: 0, wrong: 1, missed: 1 });
  });
});

describe("f1Of", () => {
  test.each([
    { counts: { right: 0, wrong: 0, missed: 0 }, expected: 1 },
    { counts: { right: 0, wrong: 2, missed: 1 }, expected: 0 },
    { counts: { right: 3, wrong: 0, missed: 0 }, expected: 1 },
    { counts: { right: 2, wrong: 1, missed: 1 }, expected: 2 / 3 },
    { counts: { right: 1, wrong: 0, missed: 3 }, expected: 0.4 },
  ])("of $counts is $expected", ({ counts, expected }) => {
    expect(f1Of(counts)).toBeCloseTo(expected);
  });
});
