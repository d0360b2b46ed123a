import { z } from "zod";
import { copyJson } from "../json/copy-json.ts";
import { isJsonObject, type JsonValue } from "../json/json.ts";
import type { ToolDescriptor } from "../tools/tool-descriptor.ts";
import type { ContractSource, ToolContract } from "./contract.ts";
import { ownMember, toolContract } from "./tool-contract.ts";

/** One field of a contract, for people. */
interface ContractField {
  name: keyof ToolContract;
  value: JsonValue;
  source: ContractSource;
  /**
   * The source of the value and the ignored declarations, such as "readOnlyHint of server shop, believed".
   */
  why: string;
}

/** A contract with the reason for each field. */
export interface ContractReport {
  /** In the order of the contract; optional fields without a value are left out. */
  fields: ContractField[];
  /** Unreadable declarations, one sentence each. */
  problems: string[];
}

/** Limits for printing values; reading a contract has tighter ones. */
const LIMITS = { maxDepth: 100, maxBytes: 1_000_000 };
/** Fields that `readOnlyHint` decides for a server that is marked neither trusted nor untrusted. */
const BELIEVED_FIELDS: ReadonlySet<string> = new Set(["mode", "idempotency"]);
/** Fields that `readOnlyHint` decides for a trusted server. */
const READ_FIELDS: ReadonlySet<string> = new Set([
  "mode",
  "idempotency",
  "sideEffects",
  "errorPropagation",
  "errors",
]);

/** The effective contract of a tool, with the reason for each field. Never throws, for any descriptor. */
export function contractReport(tool: ToolDescriptor): ContractReport {
  const effective = toolContract(tool);
  const { contract, sources, ignored, isReadOnlyBelieved, unreadable } = effective;
  const words = wordsFor(tool, isReadOnlyBelieved);
  const fields = (Object.keys(sources) as (keyof ToolContract)[]).flatMap((name): ContractField[] => {
    if (contract[name] === undefined) return [];
    const copy = copyJson(contract[name], LIMITS);
    const value = copy.ok ? copy.value : null;
    const left = ignored
      .filter((each) => each.field === name)
      .map(({ source }) => words.ignored(name, source));
    const source = sources[name];
    const why = [words.taken(name, source), ...new Set([...left, ...words.hintLeft(name, source)])];
    return [{ name, value, source, why: why.join("; ") }];
  });
  const known = reviewedContract(tool);
  const problem = known?.problem === undefined ? [] : [`${known.name}: ${known.problem}: ignored`];
  return { fields, problems: [...unreadable, ...problem] };
}

function wordsFor(tool: ToolDescriptor, isReadOnlyBelieved: boolean) {
  const whose = typeof tool.server === "string" && tool.server !== "" ? `server ${tool.server}` : "the tool";
  const isTrusted = tool.trusted === true;
  const known = reviewedContract(tool);
  const reason = tool.trusted === false ? "server is trusted: false" : "server is not marked as trusted";

  function place(name: keyof ToolContract, source: ContractSource): string {
    switch (source) {
      case "default":
        return "default";
      case "override":
        return known?.fields.has(name) ? `${known.name} (${known.from})` : "the operator's configuration";
      case "meta":
        return `_meta of ${whose}`;
      case "top-level":
        return `descriptor of ${whose}`;
      case "inputSchema":
        return `inputSchema of ${whose}`;
      case "annotations":
        return `${hintFor(tool, name)} of ${whose}`;
    }
  }

  return {
    /** The source of the value. */
    taken(name: keyof ToolContract, source: ContractSource): string {
      const isWord = source !== "default" && source !== "override";
      const isBelieved = source === "annotations" && isReadOnlyBelieved && BELIEVED_FIELDS.has(name);
      const trust = isBelieved ? ", believed" : isTrusted ? ", trusted" : ", which loosens nothing";
      return place(name, source) + (isWord ? trust : "");
    },
    /** An ignored declaration. */
    ignored: (name: keyof ToolContract, source: ContractSource): string =>
      `${place(name, source)} ignored: ${reason}`,
    /** Why `readOnlyHint` does not decide this field. */
    hintLeft(name: keyof ToolContract, source: ContractSource): string[] {
      const isHeld = saysReadOnly(tool) && READ_FIELDS.has(name) && source === "default";
      if (!isHeld || isTrusted) return [];
      if (!isReadOnlyBelieved) return [`readOnlyHint of ${whose} ignored: ${reason}`];
      return [`readOnlyHint of ${whose} is believed for mode and idempotency alone: ${reason}`];
    },
  };
}

/**
 * What `known` in an override says about a contract that we ship for the tool, and that the operator takes with
 * `contracts` of the servers file. packages/tools writes it; no server and no servers file can.
 */
const KnownSchema = z.object({
  package: z.string(),
  version: z.string(),
  /** Where the review found it. */
  from: z.string().default(""),
  /** As contracts name them. */
  fields: z.array(z.string()).default([]),
  /** Why it is not used. */
  problem: z.string().optional(),
});

function reviewedContract(tool: ToolDescriptor) {
  const known = KnownSchema.safeParse(ownMember(ownMember(tool, "override"), "known"));
  if (!known.success) return undefined;
  const { package: name, version, from, fields, problem } = known.data;
  return {
    name: `reviewed contract of ${name} ${version}`,
    from,
    fields: new Set(fields.map(camelCase)),
    problem,
  };
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_text, letter: string) => letter.toUpperCase());
}

function saysReadOnly({ annotations }: ToolDescriptor): boolean {
  if (!isJsonObject(annotations)) return false;
  return annotations["readOnlyHint"] === true && annotations["destructiveHint"] !== true;
}

/** The annotation that decides a field. */
function hintFor(tool: ToolDescriptor, name: keyof ToolContract): string {
  const { annotations } = tool;
  if (name === "idempotency" && !saysReadOnly(tool)) return "idempotentHint";
  if (!isJsonObject(annotations)) return "annotations";
  return annotations["destructiveHint"] === true ? "destructiveHint" : "readOnlyHint";
}
