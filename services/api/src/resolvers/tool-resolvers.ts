import type { GraphqlContext } from "../operation/context.ts";
import { readToolCalls, readToolListing } from "../operation/tool-figures.ts";
import type { ToolView } from "../tools/tool-view.ts";

/** Fields of Tool that are read only if they are selected, once for all tools of an operation. */
export const toolResolvers = {
  listedAt: async (tool: ToolView, _: unknown, context: GraphqlContext) =>
    (await readToolListing(tool, context))?.listedAt ?? null,
  disconnectedSince: async (tool: ToolView, _: unknown, context: GraphqlContext) =>
    (await readToolListing(tool, context))?.disconnectedSince ?? null,
  calls: (tool: ToolView, _: unknown, context: GraphqlContext) => readToolCalls(tool, context),
};
