import { readFileSync } from "node:fs";
import { directTools } from "@planwright/models";
import { parsePlan } from "@planwright/plan";
import { expect, test } from "vitest";
import { answersIn, effectsOf } from "./cases/eval-case.ts";
import { languageCases } from "./cases/language-cases.ts";
import { modelCases, readingCases } from "./cases/model-cases.ts";
import { offlineCases } from "./cases/offline-cases.ts";
import { BaselineSchema } from "./figures.ts";
import { forLiveModels } from "./play-cases.ts";

const CASES = [...offlineCases(), ...readingCases(), ...modelCases(), ...languageCases()];

test("there are at least 300 cases in 17 catalogues, 60 of them with answers of models to their request", () => {
  expect(CASES.length).toBeGreaterThanOrEqual(300);
  expect(modelCases().length).toBeGreaterThanOrEqual(60);
  expect(new Set(modelCases().map(({ domain }) => domain)).size).toBe(17);
});

test("at least 60 requests need the plan language or seem to, each with answers in four habits", () => {
  const cases = languageCases();
  expect(new Set(cases.map(({ query }) => query)).size).toBeGreaterThanOrEqual(60);
  expect(cases.length).toBe(new Set(cases.map(({ query }) => query)).size * 4);
  expect(cases.filter(({ answers }) => answers.length > 1).length).toBeGreaterThanOrEqual(60);
});

const WORLDS = languageCases()
  .filter(({ id }) => id.endsWith("(short)"))
  .flatMap(({ id, tools, wanted, worlds = [] }) =>
    worlds.flatMap((world, at) =>
      wanted.type === "plan" ? [{ id, at, tools, plan: wanted.plan, world }] : [],
    ),
  );

test.each(WORLDS)("$id: the wanted plan makes the recorded number of calls in world $at", async (each) => {
  const { status, calls } = await effectsOf(each.plan, each.tools, answersIn(each.world, each.tools));
  expect({ status, calls: calls.length }).toEqual({ status: "COMPLETED", calls: each.world.calls });
});

test("catalogues hold 3 to 300 tools", () => {
  const sizes = CASES.map(({ tools }) => tools.length);
  expect([Math.min(...sizes), Math.max(...sizes)]).toEqual([3, 300]);
});

test("no request that needs a list, a condition or chosen outputs takes the direct path", () => {
  const needing = languageCases().filter(({ wanted }) => {
    if (wanted.type !== "plan") return false;
    const { steps, outputs } = wanted.plan;
    return outputs !== undefined || steps.some((step) => "forEach" in step || "when" in step);
  });
  expect(needing.length).toBeGreaterThan(200);
  expect(needing.filter(({ query, tools }) => directTools(query, tools)).map(({ id }) => id)).toEqual([]);
});

test("no two cases have the same id", () => {
  const ids = CASES.map(({ id }) => id);
  expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
});

test("every wanted plan can run on its catalogue", () => {
  const broken = CASES.flatMap(({ id, wanted, tools }) => {
    if (wanted.type !== "plan") return [];
    const { steps, outputs } = wanted.plan;
    const read = parsePlan({ steps, ...(outputs && { outputs }) }, { tools });
    return read.ok ? [] : [{ id, diagnostics: read.diagnostics }];
  });
  expect(broken).toEqual([]);
});

test("every wanted question is about a parameter of a tool in the catalogue", () => {
  const unknown = CASES.flatMap(({ id, wanted, tools }) => {
    if (wanted.type !== "questions") return [];
    const known = tools.flatMap(({ name, inputSchema }) =>
      Object.keys(inputSchema?.["properties"] ?? {}).map((parameter) => `${name}.${parameter}`),
    );
    return wanted.missing.filter((each) => !known.includes(each)).map((each) => `${id}: ${each}`);
  });
  expect(unknown).toEqual([]);
});

test("a live model is asked once for each request, and not for requests that only the rules refuse", () => {
  const live = forLiveModels(CASES);
  const requests = live.map(({ domain, query }) => `${domain}: ${query}`);
  expect(new Set(requests).size).toBe(requests.length);
  expect(live.length).toBeGreaterThan(250);
  expect(live.map(({ wanted }) => wanted)).not.toContainEqual({ type: "refusal", code: "NOT_UNDERSTOOD" });
});

test("the baseline has no more cases than exist", () => {
  const text = readFileSync(new URL("baseline.json", import.meta.url), "utf8");
  expect(BaselineSchema.parse(JSON.parse(text))["all"]?.cases).toBeLessThanOrEqual(CASES.length);
});
