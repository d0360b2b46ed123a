import { DependencyAbsentError } from "../graph/order-errors.ts";
import type { ToolDescriptor } from "../tools/tool-descriptor.ts";
import type { ToolFact, ToolFacts } from "./call-facts.ts";
import type { InsertedCall, OrderingPolicy, ReadToolCall } from "./tool-call.ts";

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
export class CallEdges {
  readonly #calls: ReadToolCall[];
  readonly #inserted: InsertedCall[];
  readonly #facts: ToolFacts;
  readonly #options: OrderingPolicy;
  readonly #byTool = new Map<string, number[]>();
  readonly #byId = new Map<string, number[]>();
  readonly #byField = new Map<string, number[]>();

  /**
   * @param calls - inserted calls are appended to it
   * @param inserted - and to this
   */
  constructor(calls: ReadToolCall[], inserted: InsertedCall[], facts: ToolFacts, options: OrderingPolicy) {
    this.#calls = calls;
    this.#inserted = inserted;
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

  #waitsOf(call: ReadToolCall, index: number): Waits {
    const fact = this.#facts.of(call.tool ?? "");
    if (fact.isFirst) return { tools: [], calls: [] };
    const tools = new Set<string>();
    const calls = new Set(call.after.flatMap((id) => this.#positionsOf(id, call)));
    const waitFor = (name: string, isTool: boolean) => {
      const { key } = this.#facts.of(name);
      const single = (isTool ? undefined : this.#byId.get(name)) ?? this.#providersOf(name, key);
      // A call that provides its own dependency does not wait for itself.
      const others = single?.filter((position) => position !== index || name === call.id);
      if (others) for (const position of others) calls.add(position);
      else if (key !== fact.key && this.#isPresent(key, call, fact)) tools.add(key);
    };
    for (const name of fact.dependsOn) waitFor(name, true);
    for (const name of call.dependsOn) waitFor(name, false);
    return { tools: [...tools], calls: [...calls] };
  }

  /** The calls that provide a field, when no call has a tool of that name. */
  #providersOf(field: string, key: string): number[] | undefined {
    return this.#byTool.has(key) ? undefined : this.#byField.get(field);
  }

  #isPresent(tool: string, call: ReadToolCall, fact: ToolFact): boolean {
    if (this.#byTool.has(tool)) return true;
    if (this.#options.onAbsentDependency === "ignore") return false;
    const wanted = this.#facts.of(tool).descriptor;
    if (this.#options.onAbsentDependency !== "insert" || !wanted || !mayInsert(wanted, fact.descriptor)) {
      throw new DependencyAbsentError({ callId: call.id, dependency: tool, kind: "tool" });
    }
    const inserted: InsertedCall = { id: this.#freeId(tool), tool: wanted.name, arguments: {} };
    this.#inserted.push(inserted);
    const read = { ...inserted, after: [], dependsOn: [], provides: [], problems: [] };
    this.#list(read, this.#calls.push(read) - 1);
    return true;
  }

  #positionsOf(id: string, call: ReadToolCall): number[] {
    const positions = this.#byId.get(id);
    if (positions) return positions;
    if (this.#options.onAbsentDependency === "ignore") return [];
    throw new DependencyAbsentError({ callId: call.id, dependency: id, kind: "call" });
  }

  #list(call: ReadToolCall, index: number): void {
    const { key, provides } = this.#facts.of(call.tool ?? "");
    append(this.#byTool, key, index);
    append(this.#byId, call.id, index);
    for (const field of new Set([...provides, ...call.provides])) append(this.#byField, field, index);
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
