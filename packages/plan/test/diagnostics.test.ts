import { DIAGNOSTIC_CODES, type Diagnostic, parsePlan, type ToolDescriptor } from "@planwright/plan";
import { expect, test } from "vitest";
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

test.each(cases)("parsePlan finds: $title", ({ plan, tools: own, policy, limits, found }) => {
  const parsed = parsePlan(plan, {
    ...(own !== false && { tools }),
    ...(policy && { policy }),
    ...(limits && { limits }),
  });
  expect(parsed.diagnostics.map(({ code }) => code)).toEqual(found.map(({ code }) => code));
  for (const [index, expected] of found.entries()) {
    const { message, ...rest } = Object.fromEntries(
      Object.entries(expected).filter(([, value]) => value !== null),
    );
    expect(parsed.diagnostics[index]).toMatchObject(rest);
    if (typeof message === "string") expect(parsed.diagnostics[index]?.message).toContain(message);
  }
  expect(parsed.ok).toBe(found.every(({ severity }) => severity !== "error"));
});

test("every code has a case", () => {
  const shown = new Set(cases.flatMap(({ found }) => found.map(({ code }) => code)));
  expect(DIAGNOSTIC_CODES.filter((code) => !shown.has(code))).toEqual([]);
});

test("there are 30 codes or more, each once", () => {
  expect(DIAGNOSTIC_CODES.length).toBeGreaterThanOrEqual(30);
  expect(new Set(DIAGNOSTIC_CODES).size).toBe(DIAGNOSTIC_CODES.length);
});
