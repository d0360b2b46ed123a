import { type PlanRecord, READ_REQUEST, type RequestRecord } from "../api/request-record.ts";
import { diagnosticLines } from "../report/diagnostic-lines.ts";
import { EXIT, type ExitCode, exitCodeOf } from "../report/exit-code.ts";
import { planText } from "../report/plan-text.ts";
import { resultLines } from "../report/result-lines.ts";
import type { Style } from "../terminal/style.ts";
import type { CommandContext } from "./command-context.ts";
import { leavingEarly } from "./leaving-early.ts";
import { showLive } from "./show-live.ts";

/** Waits until there is a plan and prints it; if planning gives no plan, prints the diagnosis. */
export function showPlan(context: CommandContext, requestId: string): Promise<ExitCode> {
  return leavingEarly(context, requestId, async () => {
    const { client, output, isJson, command } = context;
    await waitForPlan(context, requestId);
    const request = await client.readRequest(READ_REQUEST, requestId);
    const isReady = request.status === "READY";
    const exitCode = isReady ? EXIT.OK : (exitCodeOf(request) ?? EXIT.NEEDS_DECISION);
    if (isJson) {
      output.printJson(request, { isIndented: true });
      return exitCode;
    }
    const { style } = output;
    if (isReady && request.plan) {
      output.print([
        ...planText(request.plan, style),
        ...diagnosticsOf(request, style),
        "",
        "Nothing was started. To execute exactly this plan:",
        `  ${style("busy", command("execute", requestId, ...hashOf(request.plan)))}`,
      ]);
    } else {
      output.print([`${requestId}  ${request.status}`, ...resultLines(request, command, style)]);
    }
    return exitCode;
  });
}

/** The option with which `execute` starts exactly this plan. */
function hashOf({ planHash }: PlanRecord): string[] {
  return planHash === null ? [] : ["--hash", planHash.slice(0, 12)];
}

/** The diagnostics to look at before the plan is executed. */
function diagnosticsOf({ diagnostics }: RequestRecord, style: Style): string[] {
  const lines = diagnosticLines(diagnostics, style);
  return lines.length === 0 ? [] : ["", "Look at this first:", ...lines.map((line) => `  ${line}`)];
}

async function waitForPlan(context: CommandContext, requestId: string): Promise<void> {
  const { client, signal, output, isJson } = context;
  if (output.isTerminal && !isJson) return showLive(context, requestId, { wasAccepted: true });
  for await (const request of client.follow(requestId, { wasAccepted: true, signal })) void request;
}
