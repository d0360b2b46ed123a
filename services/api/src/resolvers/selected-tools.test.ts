import { type Plan, PlanSchema } from "@planwright/plan";
import { expect, test } from "vitest";
import { selectedTools, toolOrder } from "./older-api.ts";

const step = (id: string, tool: string, input: object = {}, dependsOn: string[] = []) => ({
  id,
  tool,
  arguments: input,
  dependsOn,
});
const planOf = (...steps: object[]): Plan => PlanSchema.parse({ steps });

test("a step that depends on several names the tool of the last one in the plan", () => {
  const plan = planOf(
    step("a", "createAuthor"),
    step("b", "createBlog", { authorId: "<<a._id>>" }),
    step("c", "createComment", { blogId: "<<b._id>>", authorId: "<<a._id>>" }),
  );
  expect(selectedTools(plan).map(({ dependsOn }) => dependsOn)).toEqual([null, "createAuthor", "createBlog"]);
});

test("an explicit dependency counts like a reference", () => {
  expect(selectedTools(planOf(step("a", "x"), step("b", "y", {}, ["a"])))[1]).toMatchObject({
    dependsOn: "x",
  });
});

test("parameters are the planned arguments, as JSON text", () => {
  const [tool] = selectedTools(planOf(step("a", "x", { list: [1, { deep: "<<b.c>>" }] }), step("b", "y")));
  expect(tool?.parameters).toBe('{"list":[1,{"deep":"<<b.c>>"}]}');
});

test("a forEach step names the tool that it calls", () => {
  const plan = planOf({
    id: "all",
    forEach: { items: [1, 2], do: { tool: "getWeather", arguments: { day: "<<item>>" } } },
  });
  expect(selectedTools(plan)).toMatchObject([{ toolName: "getWeather", parameters: '{"day":"<<item>>"}' }]);
});

test("toolOrder puts dependencies first, and steps of a cycle last", () => {
  const plan = planOf(step("b", "second", { id: "<<a.id>>" }), step("a", "first"));
  expect(toolOrder(plan)).toEqual(["first", "second"]);
  const cyclic = planOf(step("x", "one", {}, ["y"]), step("y", "two", {}, ["x"]), step("z", "free"));
  expect(toolOrder(cyclic)).toEqual(["free", "one", "two"]);
});

test("without a plan there are no tools", () => {
  expect([selectedTools(null), toolOrder(null)]).toEqual([[], []]);
});
