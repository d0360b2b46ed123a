import {
  DIAGNOSTIC_CODES,
  type Diagnostic,
  parsePlan,
  readModelAnswer,
  type ToolDescriptor,
} from "@planwright/plan";
import { expect, test } from "vitest";
import answerDiagnostics from "./data/answer-diagnostics.json" with { type: "json" };
import diagnostics from "./data/diagnostics.json" with { type: "json" };
import catalogue from "./data/tools.json" with { type: "json" };

const tools: ToolDescriptor[] = catalogue as ToolDescriptor[];

interface DiagnosticCase {
  title: string;
  plan: unknown;
  tools?: false;
  policy?: object;
  limits?: object;
  found: { [Field in keyof Diagnostic]?: Diagnostic[Field] | null }[];
}
const cases = diagnostics as DiagnosticCase[];

interface AnswerCase {
  title: string;
  answer: string;
  query?: string;
  /** An instant; the zone is UTC. */
  now?: string;
  finishReason?: string;
  found: DiagnosticCase["found"];
}
const answers = answerDiagnostics as AnswerCase[];

function expectFound(diagnostics: readonly Diagnostic[], found: DiagnosticCase["found"]): void {
  expect(diagnostics.map(({ code }) => code)).toEqual(found.map(({ code }) => code));
  for (const [index, expected] of found.entries()) {
    const { message, ...rest } = Object.fromEntries(
      Object.entries(expected).filter(([, value]) => value !== null),
    );
    expect(diagnostics[index]).toMatchObject(rest);
    if (typeof message === "string") expect(diagnostics[index]?.message).toContain(message);
  }
}

test.each(cases)("parsePlan finds: $title", ({ plan, tools: own, policy, limits, found }) => {
  const parsed = parsePlan(plan, {
    ...(own !== false && { tools }),
    ...(policy && { policy }),
    ...(limits && { limits }),
  });
  expectFound(parsed.diagnostics, found);
  expect(parsed.ok).toBe(found.every(({ severity }) => severity !== "error"));
});

test.each(answers)("readModelAnswer finds: $title", ({ answer, query, now, finishReason, found }) => {
  const context =
    now === undefined ? undefined : { now: new Date(now), timezone: "UTC", locale: null, facts: {} };
  const read = readModelAnswer(answer, { tools, query, context, finishReason });
  expectFound(read.diagnostics, found);
  expect(read.ok).toBe(found.every(({ severity }) => severity !== "error"));
});

/**
 * Codes without a case in the tables: reported only by the planner, which knows earlier calls, or tested
 * below.
 */
const ELSEWHERE = ["STEP_REPEATED", "TOOL_DUPLICATE"];

test("a tool that the catalogue defines twice is a warning, and its later definition counts", () => {
  const strict = { name: "send", inputSchema: { type: "object", required: ["to"] } };
  const parsed = parsePlan([{ tool: "send" }], { tools: [strict, { name: "send" }, { name: "send" }] });
  expectFound(parsed.diagnostics, [
    { code: "TOOL_DUPLICATE", severity: "warning", message: "send is defined twice" },
  ]);
  expect(parsePlan([{ tool: "send" }], { tools: [{ name: "send" }, strict] }).ok).toBe(false);
});

test("every code has a case", () => {
  const here = [...cases, ...answers].flatMap(({ found }) => found.map(({ code }) => code));
  const shown = new Set([...here, ...ELSEWHERE]);
  expect(DIAGNOSTIC_CODES.filter((code) => !shown.has(code))).toEqual([]);
});

test("there are 30 codes or more, each once", () => {
  expect(DIAGNOSTIC_CODES.length).toBeGreaterThanOrEqual(30);
  expect(new Set(DIAGNOSTIC_CODES).size).toBe(DIAGNOSTIC_CODES.length);
});
