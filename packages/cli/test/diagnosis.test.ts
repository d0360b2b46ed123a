import { test as check, fc } from "@fast-check/vitest";
import { expect } from "vitest";
import { debugReport } from "../src/report/debug-report.ts";
import { plainStyle } from "../src/terminal.ts";
import { diagnosisOf, errorOf, factsOf, planOf, requestOf, stepOf } from "./fixtures/requests.ts";

const text = fc.string({ unit: "binary", maxLength: 2_000 });
const action = fc.record({ description: text, command: fc.array(text, { minLength: 1, maxLength: 4 }) });
const anyDiagnosis = fc
  .record({
    message: text,
    severity: fc.constantFrom("NONE", "PROGRESS", "ATTENTION", "FAILURE", "FUTURE_SEVERITY"),
    reasons: fc.array(text, { maxLength: 3 }),
    next: fc.array(action, { minLength: 1, maxLength: 2 }),
  })
  .map(({ message, severity, reasons, next }) =>
    diagnosisOf({
      cause: { code: "STEP_FAILED", severity, message: `step ${message}`, errorCode: null },
      reasons,
      next: next.map((one) => ({ ...one, operation: "rerun", arguments: {} })),
    }),
  );

check.prop([anyDiagnosis, text, text])(
  "for every diagnosis of the API, the first ten lines have a cause and a command, and each line is one line",
  (diagnosis, query, message) => {
    const step = stepOf("s", { status: "FAILED", error: errorOf("OWN_CODE", message) });
    const lines = debugReport(factsOf(requestOf({ query, diagnosis, plan: planOf([step]) })), plainStyle);
    expect(lines[2]).toMatch(/^Cause {3}./);
    expect(lines.slice(0, 10).some((line) => /^ {10}planwright /.test(line))).toBe(true);
    expect(lines.filter((line) => /[\p{Cc}\p{Cf}]/u.test(line))).toEqual([]);
  },
);
