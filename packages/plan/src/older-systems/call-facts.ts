import { toolContract } from "../contract/tool-contract.ts";
import type { ToolDescriptor } from "../tools/tool-descriptor.ts";
import { type ToolIndex, toolIndexOf } from "../tools/tool-index.ts";
import type { OrderingPolicy } from "./tool-call.ts";

/** The facts about a tool that ordering needs. */
export interface ToolFact {
  /** Equal for all names of one tool. */
  key: string;
  descriptor: ToolDescriptor | undefined;
  isBarrier: boolean;
  /** Maximum number of its calls in one group. */
  limit: number;
  /** Keys of the tools that it waits for, without itself. */
  dependsOn: string[];
  /** Names of fields in its output. */
  provides: readonly string[];
  /** Navigation that starts at once, regardless of its dependencies. */
  isFirst: boolean;
}

/** Computes the facts of each tool once, at its first call. */
export class ToolFacts {
  readonly #tools: ToolIndex;
  readonly #options: OrderingPolicy;
  readonly #known = new Map<string, ToolFact>();

  constructor(tools: readonly ToolDescriptor[], options: OrderingPolicy) {
    this.#tools = toolIndexOf(tools);
    this.#options = options;
  }

  of(name: string): ToolFact {
    const known = this.#known.get(name);
    if (known) return known;
    const descriptor = this.#tools.find(name);
    const fact = descriptor ? this.#describe(descriptor) : unknownTool(name);
    this.#known.set(name, fact);
    return fact;
  }

  #describe(descriptor: ToolDescriptor): ToolFact {
    const { unannotated, navigation } = this.#options;
    const { contract, sources } = toolContract(descriptor, { unannotated: unannotated ?? "parallel" });
    const isDeclared = (field: "mode" | "maxConcurrency") =>
      unannotated === "sequential" || (sources[field] !== "default" && sources[field] !== "annotations");
    const isLimited = isDeclared("mode") || isDeclared("maxConcurrency");
    const keys = contract.dependsOn.map(
      ({ tool }) => this.#tools.findRelated(descriptor, tool)?.name ?? tool,
    );
    return {
      key: descriptor.name,
      descriptor,
      isBarrier: contract.barrier,
      limit: isLimited ? (contract.maxConcurrency ?? Infinity) : Infinity,
      dependsOn: [...new Set(keys)].filter((key) => key !== descriptor.name),
      provides: contract.provides,
      isFirst: navigation === "first" && contract.navigation,
    };
  }
}

function unknownTool(name: string): ToolFact {
  return {
    key: name,
    descriptor: undefined,
    isBarrier: false,
    limit: Infinity,
    dependsOn: [],
    provides: [],
    isFirst: false,
  };
}
