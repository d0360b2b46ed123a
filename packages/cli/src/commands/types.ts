import { writeFile } from "node:fs/promises";
import { countText } from "@planwright/plan";
import { LIST_TOOLS } from "../operations.ts";
import { EXIT, type ExitCode, UsageError } from "../report/exit-code.ts";
import { toolTypes } from "../report/tool-types.ts";
import { oneLine } from "../terminal.ts";
import type { CommandContext } from "./command-context.ts";

/**
 * Writes the types of all tools as a TypeScript module with a `definePlan` of their own: a wrong tool, argument or
 * reference does not compile.
 * @throws {UsageError} when the file cannot be written
 */
export async function types(
  { client, output, isJson }: CommandContext,
  { out }: { out?: string } = {},
): Promise<ExitCode> {
  const { tools } = await client.execute(LIST_TOOLS, {});
  const text = await toolTypes(tools);
  if (out !== undefined) {
    try {
      await writeFile(out, text);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new UsageError(`${oneLine(out, 200)} cannot be written: ${oneLine(reason, 200)}`, error);
    }
  }
  if (isJson) output.printJson({ tools: tools.length, file: out ?? null, types: text });
  else if (out === undefined) output.print(text.trimEnd().split("\n"));
  else output.note([`Wrote the types of ${countText(tools.length, "tool")} to ${out}`]);
  return EXIT.OK;
}
