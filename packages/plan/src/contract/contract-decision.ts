import type { ContractDeclaration, ContractSource, ToolContract } from "./contract.ts";
import type { ContractLayer, Warn } from "./contract-layers.ts";
import { declaredDependencies, declaredMode } from "./declared-fields.ts";

/** A declaration that is ignored because it would loosen the contract. */
export interface IgnoredDeclaration {
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
