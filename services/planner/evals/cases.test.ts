import { readFileSync } from "node:fs";
import { parsePlan } from "@planwright/plan";
import { expect, test } from "vitest";
import { BaselineSchema } from "./baseline.ts";
import { modelCases } from "./model-cases.ts";
import { offlineCases } from "./offline-cases.ts";
import { forLiveModels } from "./play-cases.ts";
import { readingCases } from "./reading-cases.ts";

const CASES = [...offlineCases(), ...readingCases(), ...modelCases()];

test("there are at least 300 cases in 16 catalogues, 60 of them with answers to their own request", () => {
  expect(CASES.length).toBeGreaterThanOrEqual(300);
  expect(modelCases().length).toBeGreaterThanOrEqual(60);
  expect(new Set(modelCases().map(({ domain }) => domain)).size).toBe(16);
});

test("catalogues hold 3 to 300 tools", () => {
  const sizes = CASES.map(({ tools }) => tools.length);
  expect([Math.min(...sizes), Math.max(...sizes)]).toEqual([3, 300]);
});

test("no two cases have the same id", () => {
  const ids = CASES.map(({ id }) => id);
  expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
});

test("every wanted plan can run on its catalogue", () => {
  const broken = CASES.flatMap(({ id, wanted, tools }) => {
    if (wanted.type !== "plan") return [];
    const read = parsePlan({ steps: wanted.plan.steps }, { tools });
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

test("a live model is asked for each request once, and for none that only rules do not understand", () => {
  const live = forLiveModels(CASES);
  const requests = live.map(({ domain, query }) => `${domain}: ${query}`);
  expect(new Set(requests).size).toBe(requests.length);
  expect(live.length).toBeGreaterThan(250);
  expect(live.map(({ wanted }) => wanted)).not.toContainEqual({ type: "refusal", code: "NOT_UNDERSTOOD" });
});

test("the baseline knows of no case that is gone", () => {
  const text = readFileSync(new URL("baseline.json", import.meta.url), "utf8");
  expect(BaselineSchema.parse(JSON.parse(text))["all"]?.cases).toBeLessThanOrEqual(CASES.length);
});
