import { DIAGNOSTIC_CODES, type Diagnostic, type ToolDescriptor } from "@planwright/plan";
import { readModelAnswer } from "@planwright/reading";
import { expect, test } from "vitest";
import diagnosticsOfPlans from "../../plan/test/data/diagnostics.json" with { type: "json" };
import catalogue from "../../plan/test/data/tools.json" with { type: "json" };
import answerDiagnostics from "./data/answer-diagnostics.json" with { type: "json" };

const tools: ToolDescriptor[] = catalogue as ToolDescriptor[];

interface AnswerCase {
  title: string;
  answer: string;
  query?: string;
  /** An instant; the zone is UTC. */
  now?: string;
  finishReason?: string;
  found: { [Field in keyof Diagnostic]?: Diagnostic[Field] | null }[];
}
const answers = answerDiagnostics as AnswerCase[];

test.each(answers)("readModelAnswer finds: $title", ({ answer, query, now, finishReason, found }) => {
  const context =
    now === undefined ? undefined : { now: new Date(now), timezone: "UTC", locale: null, facts: {} };
  const read = readModelAnswer(answer, { tools, query, context, finishReason });
  expect(read.diagnostics.map(({ code }) => code)).toEqual(found.map(({ code }) => code));
  for (const [index, expected] of found.entries()) {
    const { message, ...rest } = Object.fromEntries(
      Object.entries(expected).filter(([, value]) => value !== null),
    );
    expect(read.diagnostics[index]).toMatchObject(rest);
    if (typeof message === "string") expect(read.diagnostics[index]?.message).toContain(message);
  }
  expect(read.ok).toBe(found.every(({ severity }) => severity !== "error"));
});

/**
 * Codes without a case in the tables: reported only by the planner, which knows earlier calls, or tested beside
 * the table of plans.
 */
const ELSEWHERE = ["STEP_REPEATED", "TOOL_DUPLICATE"];

test("every code has a case", () => {
  const here = [...diagnosticsOfPlans, ...answers].flatMap(({ found }) => found.map(({ code }) => code));
  const shown = new Set([...here, ...ELSEWHERE]);
  expect(DIAGNOSTIC_CODES.filter((code) => !shown.has(code))).toEqual([]);
});
