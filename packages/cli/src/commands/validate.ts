import { countText } from "@planwright/plan";
import { VALIDATE_PLAN } from "../api/mutations.ts";
import { diagnosticLines } from "../report/diagnostic-lines.ts";
import { EXIT, type ExitCode } from "../report/exit-code.ts";
import type { CommandContext } from "./command-context.ts";
import { readJsonFile } from "./read-json-file.ts";

/** Checks a plan against the tools that the API knows, and stores nothing. */
export async function validate(context: CommandContext, file: string): Promise<ExitCode> {
  const { client, output, isJson } = context;
  const plan = await readJsonFile(file, context.signal);
  const { check } = await client.execute(VALIDATE_PLAN, { plan });
  const { valid, diagnostics } = check;
  if (isJson) output.printJson({ valid, diagnostics }, { isIndented: true });
  else {
    const { style } = output;
    const errors = diagnostics.filter(({ severity }) => severity === "error").length;
    const verdict = valid
      ? `${style("good", "✔")} The plan is valid${diagnostics.length > 0 ? `, with ${countText(diagnostics.length, "warning")}` : ""}`
      : `${style("bad", "✖")} The plan is not valid: ${countText(errors, "error")}`;
    output.print([verdict, ...diagnosticLines(diagnostics, style).map((line) => `  ${line}`)]);
  }
  return valid ? EXIT.OK : EXIT.PLAN_FAILED;
}
