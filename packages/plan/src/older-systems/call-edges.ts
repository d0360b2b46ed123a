import { DependencyAbsentError } from "../graph/order-errors.ts";
import type { ToolDescriptor } from "../tools/tool-descriptor.ts";
import type { ToolFact, ToolFacts } from "./call-facts.ts";
import {
  dependenciesOfCall,
  type InsertedCall,
  type OrderingPolicy,
  providedByCall,
  type ToolCall,
  toolOfCall,
} from "./tool-call.ts";

interface Waits {
  /** Keys of tools: wait for all their calls. */
  tools: string[];
  /** Positions of single calls to wait for. */
  calls: number[];
}

/**
 * Positions of calls, followed by one position (gate) for each tool that calls wait for. A gate means "all
 * calls of this tool", so that n calls that wait for m calls need n + m edges.
 */
export class CallEdges<Call extends ToolCall> {
  readonly #calls: (Call | InsertedCall)[];
  readonly #facts: ToolFacts;
  readonly #options: OrderingPolicy;
  readonly #byTool = new Map<string, number[]>();
  readonly #byId = new Map<string, number[]>();
  readonly #byField = new Map<string, number[]>();

  /** @param calls - inserted calls are appended to it */
  constructor(calls: (Call | InsertedCall)[], facts: ToolFacts, options: OrderingPolicy) {
    this.#calls = calls;
    this.#facts = facts;
    this.#options = options;
    calls.forEach((call, index) => this.#list(call, index));
  }

  edges(): number[][] {
    const waits: Waits[] = [];
    // Inserted calls are appended during the loop and handled by it.
    for (let index = 0; index < this.#calls.length; index += 1) {
      const call = this.#calls[index];
      if (call) waits.push(this.#waitsOf(call, index));
    }
    const edges: number[][] = waits.map(({ calls }) => [...calls]);
    const gates = new Map<string, number>();
    waits.forEach(({ tools }, index) => {
      for (const tool of tools) {
        const gate = gates.get(tool) ?? edges.push([...(this.#byTool.get(tool) ?? [])]) - 1;
        gates.set(tool, gate);
        edges[index]?.push(gate);
      }
    });
    return edges;
  }

  #waitsOf(call: Call | InsertedCall, index: number): Waits {
    const fact = this.#facts.of(toolOfCall(call) ?? "");
    if (fact.isFirst) return { tools: [], calls: [] };
    const tools = new Set(fact.dependsOn.filter((tool) => this.#isPresent(tool, call, fact)));
    const after = "after" in call ? new Set(call.after) : new Set<string>();
    const calls = new Set([...after].flatMap((id) => this.#positionsOf(id, call)));
    for (const name of dependenciesOfCall(call)) {
      const { key } = this.#facts.of(name);
      const single = this.#byId.get(name) ?? (this.#byTool.has(key) ? undefined : this.#byField.get(name));
      // A call that provides its own dependency does not wait for itself.
      const others = single?.filter((position) => position !== index || name === call.id);
      if (others) for (const position of others) calls.add(position);
      else if (key !== fact.key && this.#isPresent(key, call, fact)) tools.add(key);
    }
    return { tools: [...tools], calls: [...calls] };
  }

  #isPresent(tool: string, call: Call | InsertedCall, fact: ToolFact): boolean {
    if (this.#byTool.has(tool)) return true;
    if (this.#options.onAbsentDependency === "ignore") return false;
    const wanted = this.#facts.of(tool).descriptor;
    if (this.#options.onAbsentDependency !== "insert" || !wanted || !mayInsert(wanted, fact.descriptor)) {
      throw new DependencyAbsentError({ callId: call.id, dependency: tool, kind: "tool" });
    }
    const inserted: InsertedCall = { id: this.#freeId(tool), tool: wanted.name, arguments: {} };
    this.#list(inserted, this.#calls.push(inserted) - 1);
    return true;
  }

  #positionsOf(id: string, call: Call | InsertedCall): number[] {
    const positions = this.#byId.get(id);
    if (positions) return positions;
    if (this.#options.onAbsentDependency === "ignore") return [];
    throw new DependencyAbsentError({ callId: call.id, dependency: id, kind: "call" });
  }

  #list(call: Call | InsertedCall, index: number): void {
    const { key, provides } = this.#facts.of(toolOfCall(call) ?? "");
    append(this.#byTool, key, index);
    append(this.#byId, call.id, index);
    for (const field of new Set([...provides, ...providedByCall(call)])) append(this.#byField, field, index);
  }

  #freeId(tool: string): string {
    if (!this.#byId.has(tool)) return tool;
    let number = 2;
    while (this.#byId.has(`${tool}-${number}`)) number += 1;
    return `${tool}-${number}`;
  }
}

function append(lists: Map<string, number[]>, key: string, index: number): void {
  const list = lists.get(key);
  if (list) list.push(index);
  else lists.set(key, [index]);
}

/** False when an untrusted server would cause calls of another server's tools. */
function mayInsert(wanted: ToolDescriptor, by: ToolDescriptor | undefined): boolean {
  return by?.trusted === true || by?.override !== undefined || by?.server === wanted.server;
}
