import type { ContractDeclaration, ContractSource, ToolContract } from "./contract.ts";
import type { ContractLayer, Warn } from "./contract-layers.ts";
import { declaredDependencies, declaredMode } from "./declared-fields.ts";

/** A declaration that a contract does not take, because it would loosen it. */
export interface IgnoredDeclaration {
  field: keyof ToolContract;
  source: ContractSource;
}

/** How one field is decided. */
interface Choice<Value> {
  base: Value;
  /** Where `base` itself comes from. Default "default". */
  baseSource?: ContractSource;
  read: (fields: ContractDeclaration) => NonNullable<Value> | undefined;
  /**
   * For untrusted places: the value, a tighter one, or undefined when it may not be taken. Default: taken as
   * it is.
   */
  tighten?: (value: NonNullable<Value>, base: Value) => Value | undefined;
}

/** Decides one field after the other by the places, and records where each value came from. */
export class ContractDecision {
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

  /** "annotations" when they are why a tool counts as read-only; its further defaults follow from them. */
  sourceOfReadOnly(): ContractSource {
    const isReadOnly = this.#layers.some(isReadOnlyByAnnotation);
    return isReadOnly && this.sources.sideEffects === "annotations" ? "annotations" : "default";
  }

  /**
   * True when the hint to be read-only is believed, and no place says that the tool writes. Known once
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

  /** A tool that names dependencies and no mode is `dependent`, unless that would loosen an untrusted one. */
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
