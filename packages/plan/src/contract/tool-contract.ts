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
import type { JsonObject } from "../json/json.ts";
import type { Policy } from "../policy/policy.ts";
import { remembered } from "../tools/remembered.ts";
import { readTool, type ToolDescriptor } from "../tools/tool-descriptor.ts";
import type { ContractSource, ToolContract } from "./contract.ts";
import { ContractDecision, type IgnoredDeclaration } from "./contract-decision.ts";
import { contractLayers, ownMember } from "./contract-layers.ts";
import {
  DEFAULT_BACKOFF,
  declaredBackoff,
  declaredBarrier,
  declaredBatch,
  declaredDependencies,
  declaredMode,
  declaredRateLimit,
  tighterBackoff,
} from "./declared-fields.ts";

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
export interface EffectiveContract {
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
  return !tool || toolContract(tool).contract.sideEffects;
}

/**
 * True when a second call of the tool acts a second time: it has side effects, and no `readOnlyHint` that is
 * believed says otherwise. A repeat of any other call needs no approval.
 */
export function actsWhenRepeated(tool: ToolDescriptor | undefined): boolean {
  if (!tool) return true;
  const { contract, isReadOnlyBelieved } = toolContract(tool);
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
