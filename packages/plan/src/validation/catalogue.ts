import type { ToolContract } from "../contract/contract.ts";
import { knownContract } from "../contract/tool-contract.ts";
import type { Policy } from "../policy/policy.ts";
import { findLeftOut, shortName } from "../tools/name-tools.ts";
import { remembered } from "../tools/remembered.ts";
import type { LeftOutTool, ToolDescriptor } from "../tools/tool-descriptor.ts";
import { toolIndexOf } from "../tools/tool-index.ts";

/** The tools that a plan is checked against, with look-ups in constant time. */
export interface Catalogue {
  /** All names, for suggestions. */
  readonly names: readonly string[];
  /** The tool that a name means; also by a short name that only one server offers. */
  find(name: string): ToolDescriptor | undefined;
  /** The tool that a name in another tool's contract means: first a tool of the same server. */
  findFor(tool: ToolDescriptor, name: string): ToolDescriptor | undefined;
  /** Qualified names of the tools that a short name could mean. */
  offersOf(name: string): readonly string[];
  /** The left-out tool that a name means, also as `server/tool`. */
  leftOutOf(name: string): LeftOutTool | undefined;
  contractOf(tool: ToolDescriptor): ToolContract;
  /** True for a tool without side effects by its contract, or by a hint that is believed. */
  onlyReads(tool: ToolDescriptor): boolean;
  /** The unreadable declarations of its contract, one sentence each. */
  unreadableOf(tool: ToolDescriptor): readonly string[];
}

/** Options of {@link createCatalogue}. */
interface CatalogueOptions extends Pick<Policy, "unannotated"> {
  /** Tools that servers list and that no plan can use. Default: none. */
  leftOut?: readonly LeftOutTool[] | undefined;
}

/**
 * Indexes a catalogue, which must not change: its contracts are computed once. Of tools with the same name
 * the later definition counts.
 */
export function createCatalogue(
  tools: readonly ToolDescriptor[],
  { unannotated, leftOut = [] }: CatalogueOptions,
): Catalogue {
  const index = toolIndexOf(tools);
  const names = namesOf(index.tools);
  return {
    names,
    find: (name) => index.find(name),
    findFor: (tool, name) => index.findRelated(tool, name),
    offersOf: (name) => names.filter((other) => other.includes("/") && shortName(other) === name),
    leftOutOf: (name) => findLeftOut(leftOut, name),
    contractOf: (tool) => knownContract(tool, unannotated).contract,
    onlyReads(tool) {
      const { contract, isReadOnlyBelieved } = knownContract(tool, unannotated);
      return !contract.sideEffects || isReadOnlyBelieved;
    },
    unreadableOf: (tool) => knownContract(tool, unannotated).unreadable,
  };
}

const namesOf = remembered((tools: readonly ToolDescriptor[]) => [...new Set(tools.map(({ name }) => name))]);
