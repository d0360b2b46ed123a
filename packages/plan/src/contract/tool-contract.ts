/**
 * The effective contract of a tool.
 *
 * 1. Each field is decided separately: the first source in order of precedence with a usable value wins.
 * 2. A declaration of an untrusted server may tighten the value that would apply without it, never loosen it.
 *    One hint is believed of a server that the operator marks neither trusted nor untrusted: `readOnlyHint`,
 *    only for mode and idempotency.
 * 3. Defaults are careful: a tool without declarations counts as writing, its calls run one at a time and are
 *    never repeated.
 */

import type { ZodError } from "zod";
import { dependencyNames } from "../document/field-words.ts";
import type { Policy } from "../document/policy.ts";
import { copyJson } from "../json/copy-json.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import { readTool, remembered, type ToolDescriptor } from "../tools/tool-descriptor.ts";
import {
  type ContractDeclaration,
  ContractDeclarationSchema,
  type ContractSource,
  DEFAULT_BACKOFF,
  DEPENDENCY_FIELDS,
  declaredBackoff,
  declaredBarrier,
  declaredBatch,
  declaredDependencies,
  declaredMode,
  declaredRateLimit,
  type ToolContract,
  tighterBackoff,
} from "./contract.ts";

/*
 * Reads the declarations of a tool, layer by layer. Descriptors are untrusted: every value is copied into
 * bounded plain data before it is read, each field is checked separately, and every error becomes a warning.
 */

/** The fields of one place in a descriptor; `trusted`: they may also loosen the contract. */
interface ContractLayer {
  source: ContractSource;
  trusted: boolean;
  fields: ContractDeclaration;
  /**
   * The layer declares that the tool only reads. That is believed for parallelism and repeats, although the
   * layer is not trusted.
   */
  isReadOnlyBelieved?: true;
}

/** Receives a warning of one sentence. */
type Warn = (message: string) => void;

const KEY = "x-orchestration";
const FIELDS = Object.keys(ContractDeclarationSchema.shape);
const LIMITS = { maxDepth: 32, maxBytes: 65_536 };

/**
 * The layers in order of precedence, without empty ones: override, `_meta["x-orchestration"]`, top level (its
 * `x-orchestration` before bare fields), `inputSchema["x-orchestration"]`, annotations.
 */
function contractLayers(
  descriptor: ToolDescriptor,
  { trusted, believesReadOnly, override }: { trusted: boolean; believesReadOnly: boolean; override: unknown },
  warn: Warn,
): ContractLayer[] {
  const places: [ContractSource, string, unknown][] = [
    ["override", "override", override],
    ["meta", `_meta["${KEY}"]`, ownMember(ownMember(descriptor, "_meta"), KEY)],
    ["top-level", KEY, ownMember(descriptor, KEY)],
  ];
  const layers = places.flatMap(([source, place, value]): ContractLayer[] => {
    if (value === undefined || value === null) return [];
    const fields = readDeclaration(value, place, warn);
    return [{ source, trusted: trusted || source === "override", fields }];
  });
  const schema = ownMember(descriptor, "inputSchema");
  const nested = ownMember(schema, KEY);
  layers.push({ source: "top-level", trusted, fields: readFields(descriptor, "top level", warn) });
  if (nested !== undefined && nested !== null) {
    const fields = readDeclaration(nested, `inputSchema["${KEY}"]`, warn);
    layers.push({ source: "inputSchema", trusted, fields });
  }
  layers.push({ source: "inputSchema", trusted, fields: listedInSchema(schema, warn) });
  layers.push(layerOfAnnotations(fieldsOfAnnotations(descriptor, warn), trusted, believesReadOnly));
  return layers.filter(
    ({ fields, isReadOnlyBelieved }) => isReadOnlyBelieved || Object.keys(fields).length > 0,
  );
}

/**
 * The dependencies that a schema lists beside its properties, as an older system does. An object there is
 * the keyword `dependencies` of JSON Schema.
 */
function listedInSchema(schema: unknown, warn: Warn): ContractDeclaration {
  const listed = DEPENDENCY_FIELDS.map((name) => [name, ownMember(schema, name)] as const);
  const named = listed.filter(([, value]) => typeof value === "string" || Array.isArray(value));
  return readFields(Object.fromEntries(named), "inputSchema", warn);
}

function layerOfAnnotations(
  fields: ContractDeclaration,
  trusted: boolean,
  believesReadOnly: boolean,
): ContractLayer {
  const layer: ContractLayer = { source: "annotations", trusted, fields };
  if (trusted || !believesReadOnly || fields.side_effects !== false) return layer;
  return { ...layer, fields: {}, isReadOnlyBelieved: true };
}

/** An own member of an object; undefined when it is missing or cannot be read. Never throws. */
export function ownMember(object: unknown, key: string): unknown {
  if (typeof object !== "object" || object === null) return undefined;
  try {
    return Object.hasOwn(object, key) ? Reflect.get(object, key) : undefined;
  } catch {
    // A member whose getter or proxy throws counts as absent.
    return undefined;
  }
}

function readDeclaration(value: unknown, place: string, warn: Warn): ContractDeclaration {
  if (isJsonObject(value)) return readFields(value, place, warn);
  warn(`${place} is not an object: ignored`);
  return {};
}

function readFields(object: object, place: string, warn: Warn): ContractDeclaration {
  const declared: JsonObject = {};
  for (const field of FIELDS) {
    const value = ownMember(object, field);
    if (value === undefined || value === null) continue;
    const copy = copyJson(value, LIMITS);
    if (!copy.ok) warn(`${place}: ${field} is ${WORDS[copy.problem]}: ignored`);
    else declared[field] = listForm(field, copy.value);
  }
  return checkFields(declared, place, warn);
}

const NAMES_OF_DEPENDENCIES: ReadonlySet<string> = new Set(DEPENDENCY_FIELDS);

/** Names are a list, whatever the form in which calls and tools may write them. */
function listForm(field: string, value: JsonValue): JsonValue {
  if (field === "provides") return typeof value === "string" ? [value] : value;
  const named = NAMES_OF_DEPENDENCIES.has(field) ? dependencyNames(value) : undefined;
  return named?.map(({ name, fields }) => ({ tool: name, required_fields: [...fields] })) ?? value;
}

const WORDS = { "not-json": "not JSON", "too-deep": "nested too deeply", "too-large": "too large" };

/** Parses all fields together; when that fails, one by one. */
function checkFields(declared: JsonObject, place: string, warn: Warn): ContractDeclaration {
  const whole = ContractDeclarationSchema.safeParse(declared);
  if (whole.success) return whole.data;
  const valid: JsonObject = {};
  for (const [field, value] of Object.entries(declared)) {
    const alone = ContractDeclarationSchema.safeParse({ [field]: value });
    if (alone.success) valid[field] = value;
    else warn(`${place}: ${field} is not valid (${reasonOf(alone.error)}): ignored`);
  }
  return ContractDeclarationSchema.parse(valid);
}

/** The error of one field, and its path inside the field. */
function reasonOf({ issues: [issue] }: ZodError): string {
  if (!issue) return "unknown reason";
  return [...issue.path.slice(1).map(String), issue.message].join(": ");
}

/** The fields that MCP hints declare: only whether a tool writes and whether a repeat is harmless. */
function fieldsOfAnnotations(descriptor: ToolDescriptor, warn: Warn): ContractDeclaration {
  const annotations = ownMember(descriptor, "annotations");
  const hint = (name: string): boolean | undefined => {
    const value = ownMember(annotations, name);
    if (value === undefined || value === null || typeof value === "boolean") return value ?? undefined;
    warn(`annotations: ${name} is not a boolean: ignored`);
    return undefined;
  };
  const isReadOnly = hint("readOnlyHint");
  const isDestructive = hint("destructiveHint") === true;
  const isIdempotent = hint("idempotentHint");
  if (isReadOnly === true && isDestructive) {
    warn("annotations: both readOnlyHint and destructiveHint: taken as a tool that writes");
  }
  const writes = isReadOnly === false || isDestructive;
  return {
    ...(writes ? { side_effects: true } : isReadOnly ? { side_effects: false } : {}),
    ...(isIdempotent === undefined || (isReadOnly === true && !writes)
      ? {}
      : { idempotency: isIdempotent ? "natural" : "none" }),
  };
}

/** Options of {@link toolContract}. */
export interface ToolContractOptions {
  /**
   * True: declarations of the server may also loosen the contract. False: none may. Default:
   * `descriptor.trusted`.
   */
  trusted?: boolean | undefined;
  /** The operator's configuration. Default: `descriptor.override`. */
  override?: JsonObject | undefined;
  /** Mode of tools whose contract has no mode. Default "sequential". */
  unannotated?: Policy["unannotated"] | undefined;
}

/** A contract, the source of each field, and the problems of the declarations. */
interface EffectiveContract {
  contract: ToolContract;
  sources: Record<keyof ToolContract, ContractSource>;
  /** Declarations that were ignored completely or in part. */
  ignored: IgnoredDeclaration[];
  /** True when `readOnlyHint` is believed only for mode and idempotency. */
  isReadOnlyBelieved: boolean;
  /** One sentence each, at most 50; empty for a clean descriptor. */
  warnings: string[];
  /** The warnings about unreadable declarations, from any source. */
  unreadable: string[];
}

const MAX_WARNINGS = 50;
/** Order of the modes; higher is tighter. */
const TIGHTNESS = { "parallel-safe": 0, dependent: 0, "fan-out-bounded": 1, "sequential-only": 2 } as const;

/**
 * The effective contract of a tool. Never throws, for any descriptor.
 *
 * Precedence, per field: override, `_meta["x-orchestration"]`, top level, `inputSchema["x-orchestration"]`,
 * MCP annotations, default. An invalid declaration gives a warning, and the next source counts. Without a
 * declared mode it follows, inside the same source, from `barrier` (sequential-only), `parallel_safe: true`
 * (parallel-safe) or `max_concurrency` (1: sequential-only, else fan-out-bounded).
 *
 * A value of an untrusted server is accepted only when it is as tight as the default or tighter:
 * | field | tighter is |
 * |---|---|
 * | mode | sequential-only > fan-out-bounded > parallel-safe, dependent |
 * | max_concurrency, timeout_ms, backoff.max_attempts | smaller |
 * | backoff.initial_ms, backoff.max_ms | larger |
 * | backoff.strategy | exponential > linear > fixed |
 * | barrier, side_effects, requires_approval | true |
 * | error_propagation | fail-fast |
 * | errors | unknown |
 * | idempotency | none (so `natural` and `key` are not taken) |
 * | lookup | absent (never taken) |
 * | depends_on, rate_limit, scope | present, wider: always taken |
 * | provides, batch, navigation | neither: they describe the tool, and matter only where plan or policy ask for it |
 *
 * Of a server that the operator configured, and did not mark with `trusted: false`, `readOnlyHint` is
 * believed for mode (parallel-safe) and idempotency (natural), unless another source declares that the tool
 * writes. If the hint is wrong, a call may be repeated.
 *
 * Defaults: writes, sequential-only, fail-fast, no idempotency, errors unknown; a tool known as read-only:
 * parallel-safe, partial-success, repeatable, errors without effect. `unannotated: "parallel"` makes parallel-safe the default, except for tools
 * annotated as writing or destructive.
 */
export function toolContract(given: ToolDescriptor, options: ToolContractOptions = {}): EffectiveContract {
  const descriptor = readTool(given);
  const said = options.trusted ?? ownMember(descriptor, "trusted");
  const isConfigured = typeof ownMember(descriptor, "server") === "string";
  const override = options.override ?? ownMember(descriptor, "override");
  const warnings: string[] = [];
  const warn = (message: string) => {
    if (warnings.length < MAX_WARNINGS) warnings.push(message);
  };
  const layers = contractLayers(
    descriptor,
    { trusted: said === true, believesReadOnly: said === undefined && isConfigured, override },
    warn,
  );
  const unreadable = [...warnings];
  const decision = new ContractDecision(layers, warn);
  const contract = decideContract(decision, options.unannotated ?? "sequential");
  const { sources, ignored } = decision;
  return {
    contract,
    sources,
    ignored,
    isReadOnlyBelieved: decision.believesReadOnly(),
    warnings,
    unreadable,
  };
}

/** {@link toolContract}, computed once for each descriptor, which must not change. */
export function knownContract(
  descriptor: ToolDescriptor,
  unannotated: Policy["unannotated"] = "sequential",
): Readonly<EffectiveContract> {
  return KNOWN[unannotated](descriptor);
}

const knowing = (unannotated: Policy["unannotated"]) =>
  remembered((descriptor: ToolDescriptor) => toolContract(descriptor, { unannotated }));
const KNOWN = { sequential: knowing("sequential"), parallel: knowing("parallel") };

/** True when the tool has side effects by its contract, and for an unknown tool. */
export function hasSideEffects(tool: ToolDescriptor | undefined): boolean {
  return !tool || knownContract(tool).contract.sideEffects;
}

/**
 * True when a second call of the tool acts a second time: it has side effects, and no `readOnlyHint` that is
 * believed says otherwise. A repeat of any other call needs no approval.
 */
export function actsWhenRepeated(tool: ToolDescriptor | undefined): boolean {
  if (!tool) return true;
  const { contract, isReadOnlyBelieved } = knownContract(tool);
  return contract.sideEffects && !isReadOnlyBelieved;
}

function decideContract(decision: ContractDecision, unannotated: Policy["unannotated"]): ToolContract {
  const effects = decideEffects(decision);
  const parallelism = decideParallelism(decision, effects.sideEffects, unannotated);
  const batch = decision.pick("batch", { base: undefined, read: declaredBatch });
  const lookup = decision.pick("lookup", {
    base: undefined,
    read: ({ lookup: declared }) =>
      declared && { tool: declared.tool, arguments: declared.arguments, settleMs: declared.settle_ms },
    tighten: never,
  });
  const timeoutMs = decision.pick("timeoutMs", { base: undefined, read: (fields) => fields.timeout_ms });
  const rateLimit = decision.pick("rateLimit", { base: undefined, read: declaredRateLimit });
  return {
    ...parallelism,
    ...effects,
    navigation: decision.pick("navigation", { base: false, read: ({ navigation }) => navigation }),
    provides: decision.pick("provides", { base: [], read: ({ provides }) => provides }),
    backoff: decision.pick("backoff", {
      base: { ...DEFAULT_BACKOFF },
      read: declaredBackoff,
      tighten: tighterBackoff,
    }),
    ...(batch ? { batch } : {}),
    ...(lookup ? { lookup } : {}),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(rateLimit ? { rateLimit } : {}),
    requiresApproval: decision.pick("requiresApproval", {
      base: false,
      read: (fields) => fields.requires_approval,
    }),
    scope: decision.pick("scope", { base: "plan", read: ({ scope }) => scope }),
  };
}

type Effects = Pick<ToolContract, "sideEffects" | "errorPropagation" | "errors" | "idempotency">;

function decideEffects(decision: ContractDecision): Effects {
  const sideEffects = decision.pick("sideEffects", {
    base: true,
    read: (fields) => fields.side_effects,
    tighten: (value) => value || undefined,
  });
  const baseSource = decision.sourceOfReadOnly();
  const isRead = !sideEffects || decision.believesReadOnly();
  const errorPropagation = decision.pick("errorPropagation", {
    base: sideEffects ? "fail-fast" : "partial-success",
    baseSource,
    read: (fields) => fields.error_propagation,
    tighten: (value, base) => (base === "partial-success" || value === "fail-fast" ? value : undefined),
  });
  const errors = decision.pick("errors", {
    base: sideEffects ? "unknown" : "no-effect",
    baseSource,
    read: (fields) => fields.errors,
    tighten: (value, base) => (base === "no-effect" || value === "unknown" ? value : undefined),
  });
  const idempotency = decision.pick("idempotency", {
    base: isRead ? "natural" : "none",
    baseSource: decision.believesReadOnly() ? "annotations" : baseSource,
    read: (fields) => fields.idempotency,
    tighten: (value, base) => (base === "natural" || value === "none" ? value : undefined),
  });
  return { sideEffects, errorPropagation, errors, idempotency };
}

type Parallelism = Pick<ToolContract, "mode" | "maxConcurrency" | "dependsOn" | "barrier">;

function decideParallelism(
  decision: ContractDecision,
  sideEffects: boolean,
  unannotated: Policy["unannotated"],
): Parallelism {
  const barrier = decision.pick("barrier", { base: false, read: declaredBarrier });
  const dependsOn = decision.pick("dependsOn", { base: [], read: declaredDependencies });
  const isBelieved = decision.believesReadOnly();
  const isFree = !sideEffects || isBelieved || (unannotated === "parallel" && !decision.isAnnotatedWriter());
  const named = decision.pick("mode", {
    base: isFree ? "parallel-safe" : "sequential-only",
    baseSource: isBelieved ? "annotations" : decision.sourceOfReadOnly(),
    read: declaredMode,
    tighten: (value, base) => (TIGHTNESS[value] >= TIGHTNESS[base] ? value : undefined),
  });
  const mode = decision.followDependencies(named, dependsOn.length > 0, isFree);
  const maxConcurrency = decideMaxConcurrency(decision, mode);
  return { mode, ...(maxConcurrency === undefined ? {} : { maxConcurrency }), dependsOn, barrier };
}

function decideMaxConcurrency(decision: ContractDecision, mode: ToolContract["mode"]): number | undefined {
  const declared = decision.pick("maxConcurrency", {
    base: undefined,
    read: (fields) => fields.max_concurrency,
  });
  if (mode === "sequential-only") {
    if (declared !== undefined && declared > 1) {
      decision.warn(`max_concurrency ${declared} has no effect: the tool is sequential-only`);
    }
    decision.sources.maxConcurrency = decision.sources.mode;
    return 1;
  }
  if (mode === "fan-out-bounded" && declared === undefined) {
    decision.warn("mode fan-out-bounded names no max_concurrency: taken as 1");
    return 1;
  }
  return declared;
}

function never(): undefined {
  return undefined;
}

/** A declaration that is ignored because it would loosen the contract. */
interface IgnoredDeclaration {
  field: keyof ToolContract;
  source: ContractSource;
}

/** How to decide one field. */
interface Choice<Value> {
  base: Value;
  /** The source of `base`. Default "default". */
  baseSource?: ContractSource;
  read: (fields: ContractDeclaration) => NonNullable<Value> | undefined;
  /**
   * For untrusted sources: the value, a tighter one, or undefined when it must be ignored. Default: the value
   * itself.
   */
  tighten?: (value: NonNullable<Value>, base: Value) => Value | undefined;
}

/** Decides the fields of a contract from its layers, and records the source of each value. */
class ContractDecision {
  readonly sources: Record<keyof ToolContract, ContractSource> = allDefault();
  readonly ignored: IgnoredDeclaration[] = [];
  readonly warn: Warn;
  readonly #layers: readonly ContractLayer[];

  constructor(layers: readonly ContractLayer[], warn: Warn) {
    this.#layers = layers;
    this.warn = warn;
  }

  pick<Field extends keyof ToolContract>(
    field: Field,
    choice: Choice<ToolContract[Field]>,
  ): ToolContract[Field] {
    for (const { source, trusted, fields } of this.#layers) {
      const declared = choice.read(fields);
      if (declared === undefined) continue;
      const taken = trusted || !choice.tighten ? declared : choice.tighten(declared, choice.base);
      if (taken !== declared) {
        this.ignored.push({ field, source });
        const text = JSON.stringify(declared).slice(0, 200);
        this.warn(
          `${source}: ${field} ${text} would loosen the contract and the server is not trusted: ignored`,
        );
      }
      if (taken === undefined) continue;
      this.sources[field] = source;
      return taken;
    }
    this.sources[field] = choice.baseSource ?? "default";
    return choice.base;
  }

  /**
   * "annotations" when the tool counts as read-only because of them; further defaults then have this source.
   */
  sourceOfReadOnly(): ContractSource {
    const isReadOnly = this.#layers.some(isReadOnlyByAnnotation);
    return isReadOnly && this.sources.sideEffects === "annotations" ? "annotations" : "default";
  }

  /**
   * True when `readOnlyHint` is believed and no layer declares that the tool writes. Valid after
   * `sideEffects` is decided.
   */
  believesReadOnly(): boolean {
    const isSaid = this.#layers.some(({ isReadOnlyBelieved }) => isReadOnlyBelieved);
    return isSaid && this.sources.sideEffects === "default";
  }

  isAnnotatedWriter(): boolean {
    return this.#layers.some(
      ({ source, fields }) => source === "annotations" && fields.side_effects === true,
    );
  }

  /**
   * A tool with dependencies and without a mode is `dependent`, unless that would loosen the contract of an
   * untrusted tool.
   */
  followDependencies(
    mode: ToolContract["mode"],
    hasDependencies: boolean,
    isFree: boolean,
  ): ToolContract["mode"] {
    if (mode === "dependent" && !hasDependencies) this.warn("mode dependent names no tool in depends_on");
    const isNamed = this.#layers.some(({ source, fields }) => {
      return source === this.sources.mode && declaredMode(fields) !== undefined;
    });
    const origin = this.#layers.find(({ fields }) => declaredDependencies(fields) !== undefined);
    if (isNamed || !hasDependencies || !origin || !(isFree || origin.trusted)) return mode;
    this.sources.mode = origin.source;
    return "dependent";
  }
}

function isReadOnlyByAnnotation({ source, fields }: ContractLayer): boolean {
  return source === "annotations" && fields.side_effects === false;
}

function allDefault(): Record<keyof ToolContract, ContractSource> {
  return {
    mode: "default",
    maxConcurrency: "default",
    dependsOn: "default",
    barrier: "default",
    navigation: "default",
    provides: "default",
    backoff: "default",
    errorPropagation: "default",
    errors: "default",
    batch: "default",
    sideEffects: "default",
    idempotency: "default",
    lookup: "default",
    timeoutMs: "default",
    rateLimit: "default",
    requiresApproval: "default",
    scope: "default",
  };
}
