import { READ_REQUEST } from "../api/operations.ts";
import type { RequestSnapshot } from "../api/request-snapshot.ts";
import { EXIT, type ExitCode, exitCodeOf } from "../report/exit-code.ts";
import { findingLines } from "../report/findings.ts";
import { planText } from "../report/plan-text.ts";
import { resultLines } from "../report/result-lines.ts";
import type { Style } from "../terminal/style.ts";
import type { CommandContext } from "./command-context.ts";
import { readTools } from "./follow-to-end.ts";
import { leavingEarly } from "./leaving-early.ts";
import { showLive } from "./show-live.ts";

/** Waits until there is a plan, and prints it; where there is none, what is the matter. */
export function showPlan(context: CommandContext, requestId: string): Promise<ExitCode> {
  return leavingEarly(context, requestId, async () => {
    const { client, output, isJson, command, now } = context;
    await waitForPlan(context, requestId);
    const request = await client.ask(READ_REQUEST, { requestId });
    const isReady = request.status === "READY";
    const exitCode = isReady ? EXIT.OK : (exitCodeOf(request) ?? EXIT.NEEDS_SOMEBODY);
    if (isJson) {
      output.printJson(request, { isIndented: true });
      return exitCode;
    }
    const { style } = output;
    if (isReady && request.plan) {
      output.print([
        ...planText(request.plan, style),
        ...findingsOf(request, style),
        "",
        "Nothing was started. To execute it:",
        `  ${style("busy", command("execute", requestId))}`,
      ]);
    } else {
      const tools = await readTools(context);
      output.print([
        `${requestId}  ${request.status}`,
        ...resultLines({ request, tools, nowMs: now(), command }, style),
      ]);
    }
    return exitCode;
  });
}

/** What to look at before the plan is executed. */
function findingsOf({ diagnostics }: RequestSnapshot, style: Style): string[] {
  const lines = findingLines(diagnostics, style);
  return lines.length === 0 ? [] : ["", "Look at this first:", ...lines.map((line) => `  ${line}`)];
}

async function waitForPlan(context: CommandContext, requestId: string): Promise<void> {
  const { follow, signal, output, isJson } = context;
  if (output.isTerminal && !isJson) return showLive(context, requestId, false);
  const onTrouble = () => undefined; // told by the error that ends it, if it does not pass
  for await (const request of follow(requestId, { isPatient: false, signal, onTrouble })) void request;
}
