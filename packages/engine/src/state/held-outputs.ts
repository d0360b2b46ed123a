import { type HeldJson, JsonText, type JsonValue } from "@planwright/plan";

/**
 * Outputs by name. Large ones are held as texts: reading one as a value parses it, which blocks the process,
 * so calls that insert large outputs are resolved by the shell (`UnresolvedArguments`).
 */
export class HeldOutputs extends Map<string, JsonValue> {
  readonly #texts = new Map<string, JsonText>();

  /** Sets an output. */
  hold(name: string, output: HeldJson): void {
    this.delete(name);
    if (output instanceof JsonText) this.#texts.set(name, output);
    else this.set(name, output);
  }

  /** The output as it is held. */
  held(name: string): HeldJson | undefined {
    return this.#texts.get(name) ?? super.get(name);
  }

  override get(name: string): JsonValue | undefined {
    return this.#texts.get(name)?.value() ?? super.get(name);
  }

  override has(name: string): boolean {
    return this.#texts.has(name) || super.has(name);
  }

  override delete(name: string): boolean {
    const wasText = this.#texts.delete(name);
    return super.delete(name) || wasText;
  }
}
