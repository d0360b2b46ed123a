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

test("a tool that the catalogue defines twice is a warning, and its later definition counts", () => {
  const strict = { name: "send", inputSchema: { type: "object", required: ["to"] } };
  const parsed = parsePlan([{ tool: "send" }], { tools: [strict, { name: "send" }, { name: "send" }] });
  expectFound(parsed.diagnostics, [
    { code: "TOOL_DUPLICATE", severity: "warning", message: "send is defined twice" },
  ]);
  expect(parsePlan([{ tool: "send" }], { tools: [{ name: "send" }, strict] }).ok).toBe(false);
});

test("a message cuts a long text between two characters", () => {
  const emojis = `${"x".repeat(79)}😀😀`;
  const steps = [{ id: "a", tool: "send", arguments: { text: `<<${"y".repeat(77)}😀>>` } }];
  const { diagnostics } = parsePlan({ steps, outputs: [emojis], [`${emojis}_when`]: "x" });
  expect(diagnostics.length).toBeGreaterThan(2);
  for (const { message, path = "" } of diagnostics) expect(message + path).not.toMatch(/\p{Surrogate}/u);
});

test("there are 30 codes or more, each once", () => {
  expect(DIAGNOSTIC_CODES.length).toBeGreaterThanOrEqual(30);
  expect(new Set(DIAGNOSTIC_CODES).size).toBe(DIAGNOSTIC_CODES.length);
});
