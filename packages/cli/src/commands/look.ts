import { EXPLAIN_TOOLS, LIST_TOOLS_AND_SERVERS, READ_BUNDLE, READ_REQUEST } from "../api/operations.ts";
import { UsageError } from "../errors.ts";
import { debugReport } from "../report/debug-report.ts";
import { diagnose } from "../report/diagnose.ts";
import { EXIT, type ExitCode } from "../report/exit-code.ts";
import { missingServers } from "../report/missing-servers.ts";
import { toolsTable } from "../report/tables.ts";
import { toolText } from "../report/tool-text.ts";
import { oneLine } from "../terminal/visible-text.ts";
import type { CommandContext } from "./command-context.ts";
import { readTools } from "./follow-to-end.ts";

/** Reports on a request: the cause first, then everything recorded; with `bundle` the record itself, as JSON without secrets. */
export async function debug(
  context: CommandContext,
  requestId: string,
  { bundle = false }: { bundle?: boolean } = {},
): Promise<ExitCode> {
  const { client, output, isJson, command, now } = context;
  if (bundle) {
    output.printJson(await client.ask(READ_BUNDLE, { requestId }), { isIndented: true });
    return EXIT.OK;
  }
  const [request, tools] = await Promise.all([client.ask(READ_REQUEST, { requestId }), readTools(context)]);
  const facts = { request, tools, nowMs: now(), command };
  if (isJson) output.printJson({ diagnosis: diagnose(facts), request }, { isIndented: true });
  else output.print(debugReport(facts, output.style));
  return EXIT.OK;
}

/** Lists the tools, or shows one of them. */
export async function tools(context: CommandContext, name: string | undefined): Promise<ExitCode> {
  if (name !== undefined) return showTool(context, name);
  const { client, output, isJson, now } = context;
  const { tools: all, toolServers } = await client.ask(LIST_TOOLS_AND_SERVERS);
  if (isJson) output.printJson(all, { isIndented: true });
  else {
    output.print([
      ...toolsTable(all, output.columns, output.style),
      ...missingServers(toolServers, { style: output.style, nowMs: now() }),
    ]);
  }
  return EXIT.OK;
}

async function showTool({ client, output, isJson }: CommandContext, name: string): Promise<ExitCode> {
  const tool = (await client.ask(EXPLAIN_TOOLS)).find((one) => one.name === name);
  if (!tool) throw new UsageError(`No tool is named ${oneLine(name, 120)}; planwright tools lists them`);
  if (isJson) output.printJson(tool, { isIndented: true });
  else output.print(toolText(tool, output.style));
  return EXIT.OK;
}
