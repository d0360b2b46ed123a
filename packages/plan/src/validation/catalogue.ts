import type { ToolContract } from "../contract/contract.ts";
import { knownContract } from "../contract/tool-contract.ts";
import type { DiagnosticText } from "../document/diagnostic.ts";
import type { DraftReference, DraftStep } from "../document/plan.ts";
import type { Policy } from "../document/policy.ts";
import { isJsonObject, type JsonObject, type PathSegment } from "../json/json.ts";
import { scanText } from "../reference/read-reference.ts";
import { type SchemaAtPath, schemaAtPath, typesOfSchemas } from "../schema/schema-types.ts";
import { leavesOpen, schemaOfShape, seenIn } from "../tools/observe-output.ts";
import {
  findLeftOut,
  type LeftOutTool,
  remembered,
  shortName,
  type ToolDescriptor,
  toolIndexOf,
} from "../tools/tool-descriptor.ts";

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

/** A path in the output of a step, or in an item of a list. */
type ReferencedPlace = Pick<DraftReference, "source" | "path">;

/** The knowledge about a path, and its source. */
export type KnownPlace = SchemaAtPath & {
  /**
   * Number of outputs of earlier runs from which it is known; absent when a schema defines it. The next
   * output may differ.
   */
  readonly outputs?: number | undefined;
};

/** What the catalogue knows about the values of references. */
export interface KnownOutputs {
  /**
   * What the schema of the source says about the path of a reference; when the schema leaves it open, what
   * was observed.
   */
  at(reference: ReferencedPlace, step: DraftStep): KnownPlace;
  /** Fields that the source's contract promises, when there is no schema; may be empty. */
  promisedBy(reference: DraftReference): readonly string[];
  /** True for a reference to the output of a forEach. */
  isForEach(reference: DraftReference): boolean;
}

const OPEN: SchemaAtPath = { type: "open" };

/** The severity of a diagnostic: only a warning when it is based on outputs of earlier runs. */
export function weightOf(outputs: number | undefined): Pick<DiagnosticText, "severity" | "observedIn"> {
  return outputs === undefined ? { severity: "error" } : { severity: "warning", observedIn: outputs };
}

/** Possible JSON types of a value; undefined when unknown. */
export function typesAt(found: KnownPlace): ReadonlySet<string> | undefined {
  const types = found.type === "known" ? typesOfSchemas(found.schemas) : undefined;
  // A value that was always null may have any type next time.
  return found.outputs !== undefined && types?.size === 1 && types.has("null") ? undefined : types;
}

/** "gives string", or "gave string in 3 outputs". */
export function givesTypes(types: ReadonlySet<string>, outputs: number | undefined): string {
  const named = [...types].join(" or ");
  return outputs === undefined ? `gives ${named}` : `gave ${named} in ${countOutputs(outputs)}`;
}

/** "1 output", "3 outputs". */
const countOutputs = (outputs: number): string => `${outputs} ${outputs === 1 ? "output" : "outputs"}`;

/** "the output of s1 has no kye", or "kye was never seen in 3 outputs of s1 (key, title)". */
export function absenceOf(
  source: string,
  { key, declared, outputs }: KnownPlace & { type: "absent" },
): string {
  if (outputs === undefined) return `the output of ${source} has no ${key}`;
  const names = declared.length === 0 ? "" : ` (${declared.slice(0, 10).join(", ")})`;
  return `${key} was never seen in ${countOutputs(outputs)} of ${source}${names}`;
}

/** Returns the schema of a tool's output, from one source. */
type SchemaOf = (tool: ToolDescriptor) => JsonObject | undefined;

const declaredSchema: SchemaOf = ({ outputSchema }) =>
  isJsonObject(outputSchema) ? outputSchema : undefined;

/** Creates the knowledge about outputs by step. */
export function createKnownOutputs(steps: readonly DraftStep[], catalogue: Catalogue): KnownOutputs {
  const byId = new Map(steps.map((step) => [step.id, step]));
  const seenSchemas = new Map<ToolDescriptor, JsonObject>();

  const seenSchema: SchemaOf = (tool) => {
    if (!tool.observedOutput || !leavesOpen(tool.outputSchema)) return undefined;
    const schema = seenSchemas.get(tool) ?? schemaOfShape(tool.observedOutput);
    seenSchemas.set(tool, schema);
    return schema;
  };

  function at(reference: ReferencedPlace, step: DraftStep): KnownPlace {
    const declared = placeOf(reference, step, declaredSchema);
    if (declared.type !== "open") return declared;
    const shape = sourceTool(reference, step)?.observedOutput;
    return shape ? { ...placeOf(reference, step, seenSchema), outputs: seenIn(shape) } : declared;
  }

  /** The source step of a reference: for the alias of a forEach the step that returns its items. */
  function sourceStep({ source }: ReferencedPlace, step: DraftStep): DraftStep | undefined {
    return byId.get(source.type === "step" ? source.name : (itemsReference(step)?.root ?? ""));
  }

  function sourceTool(reference: ReferencedPlace, step: DraftStep): ToolDescriptor | undefined {
    const source = sourceStep(reference, step);
    return source && catalogue.find(source.tool);
  }

  function schemaOfStep(step: DraftStep | undefined, schemaOf: SchemaOf): JsonObject | undefined {
    const tool = step && catalogue.find(step.tool);
    const own = tool && schemaOf(tool);
    return step?.forEach ? envelopeOf(own, step.forEach.when !== undefined) : own;
  }

  function placeOf(reference: ReferencedPlace, step: DraftStep, schemaOf: SchemaOf): SchemaAtPath {
    const { source, path } = reference;
    if (source.type !== "step" && (source.name === "index" || !step.forEach))
      return schemaAtPath({ type: "integer" }, path);
    const schema = schemaOfStep(sourceStep(reference, step), schemaOf);
    if (!schema) return OPEN;
    return source.type === "step" ? schemaAtPath(schema, path) : placeInItem(step, path, schema);
  }

  function placeInItem(step: DraftStep, path: readonly PathSegment[], schema: JsonObject): SchemaAtPath {
    const items = itemsReference(step)?.path ?? [];
    // Items that do not exist or are not a list already have a diagnostic.
    const list = schemaAtPath(schema, items);
    if (list.type === "absent") return OPEN;
    const types = list.type === "known" ? typesOfSchemas(list.schemas) : undefined;
    return types && !types.has("array") ? OPEN : schemaAtPath(schema, [...items, { type: "all" }, ...path]);
  }

  function promisedBy({ source }: DraftReference): readonly string[] {
    const step = source.type === "step" ? byId.get(source.name) : undefined;
    const tool = step && !step.forEach ? catalogue.find(step.tool) : undefined;
    return tool && !isJsonObject(tool.outputSchema) ? catalogue.contractOf(tool).provides : [];
  }

  const isForEach = ({ source }: DraftReference) =>
    source.type === "step" && byId.get(source.name)?.forEach !== undefined;

  return { at, promisedBy, isForEach };
}

/** The reference to the items of a forEach; undefined for literal items. */
function itemsReference({ forEach }: DraftStep) {
  const only = typeof forEach?.items === "string" ? scanText(forEach.items)?.parts[0] : undefined;
  return only?.type === "reference" ? only : undefined;
}

/**
 * Schema of a forEach's output. `$defs` are copied, so that references inside keep their targets.
 * @param hasCondition - a condition decides which items are called
 */
function envelopeOf(item: JsonObject | undefined, hasCondition: boolean): JsonObject {
  const { $defs, definitions } = item ?? {};
  const hasRootReference = item !== undefined && JSON.stringify(item).includes('"$ref":"#"');
  return {
    ...($defs !== undefined && { $defs }),
    ...(definitions !== undefined && { definitions }),
    type: "object",
    additionalProperties: false,
    properties: {
      results: {
        type: "array",
        items: {
          type: "object",
          additionalProperties: false,
          properties: {
            index: { type: "integer" },
            key: { type: "string" },
            status: { type: "string" },
            data: hasRootReference ? {} : (item ?? {}),
            error: {
              type: "object",
              additionalProperties: false,
              properties: { code: { type: "string" }, message: { type: "string" } },
            },
          },
        },
      },
      summary: {
        type: "object",
        additionalProperties: false,
        properties: {
          ok: { type: "integer" },
          error: { type: "integer" },
          ...(hasCondition && { skipped: { type: "integer" } }),
        },
      },
    },
  };
}
