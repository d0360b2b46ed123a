import type { ToolContract } from "../contract.ts";
import { toolContract } from "../contract-of-tool.ts";
import { findTool } from "../name-tools.ts";
import type { Policy } from "../policy.ts";
import type { ToolDescriptor } from "../tool-descriptor.ts";

/** The tools that a plan is checked against, with look-ups that do not slow down with their number. */
export interface Catalogue {
  /** All names, for suggestions. */
  readonly names: readonly string[];
  /** The tool that a name means; a short name too, while one server alone offers it. */
  find(name: string): ToolDescriptor | undefined;
  /** Qualified names of the tools that a short name could mean. */
  offersOf(name: string): readonly string[];
  contractOf(tool: ToolDescriptor): ToolContract;
}

/** Prepares a catalogue. Of tools with the same name the first counts. */
export function createCatalogue(
  tools: readonly ToolDescriptor[],
  { unannotated }: Pick<Policy, "unannotated">,
): Catalogue {
  const byName = new Map<string, ToolDescriptor | undefined>();
  for (const tool of tools) if (!byName.has(tool.name)) byName.set(tool.name, tool);
  const names = [...byName.keys()];
  const contracts = new Map<ToolDescriptor, ToolContract>();
  return {
    names,
    find(name) {
      if (!byName.has(name)) byName.set(name, findTool(tools, name));
      return byName.get(name);
    },
    offersOf: (name) => names.filter((other) => other.endsWith(`/${name}`)),
    contractOf(tool) {
      let contract = contracts.get(tool);
      if (!contract) {
        contract = toolContract(tool, { unannotated }).contract;
        contracts.set(tool, contract);
      }
      return contract;
    },
  };
}
