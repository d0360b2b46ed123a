import type { EffectClass } from "@planwright/plan";
import type { Fail, InvariantName } from "./invariants.ts";

const ONCE: Partial<Record<EffectClass, InvariantName>> = {
  K: "keyed-effect-once",
  U: "plain-effect-once",
  V: "verified-effect-once",
};

/** Counts the effects of tools by unit, and compares the calls of a unit. */
export interface EffectsCheck {
  /** A tool acts for a unit. */
  acted(unit: string, effectClass: EffectClass, args: string): void;
  /** An operator requests another call of a unit in doubt. */
  allowedAgain(unit: string): void;
  /** A caller has accepted that calls of the unit are repeated, or an operator has approved or denied one. */
  repeatAccepted(unit: string): void;
  /** A call with these units is sent: it needs the arguments and the key of their earlier calls. */
  sent(units: readonly string[], call: SentCall): void;
  /** A plan is submitted again after its request was removed: its calls are other calls. */
  forget(plan: string): void;
}

/** The arguments and the key of a call. */
export interface SentCall {
  arguments: string;
  /** Those of each unit. */
  each: readonly string[];
  planId: string;
  effectClass: EffectClass;
  key: string | undefined;
  /**
   * True for a read without a durable earlier attempt. When an attempt is lost, the inputs of its arguments
   * may be lost too, so the arguments may differ.
   */
  mayDiffer: boolean;
}

/** @param isOpen - true when the record of a unit of a plan says that its call may have acted, and nothing else */
export function createEffectsCheck(
  fail: Fail,
  isOpen: (planId: string, unit: string) => boolean,
): EffectsCheck {
  const effects = new Map<string, number>();
  const allowed = new Map<string, number>();
  const sentBefore = new Map<string, SentCall>();
  const accepted = new Set<string>();
  /** The last call of each unit with the same arguments, in any version. */
  const lastCalls = new Map<string, SentCall>();
  const unitsOfKey = new Map<string, string>();

  return {
    acted(unit, effectClass, args) {
      const name = `${unit} ${args}`;
      const count = (effects.get(name) ?? 0) + 1;
      effects.set(name, count);
      const invariant = accepted.has(unit) ? undefined : ONCE[effectClass];
      const most = 1 + (effectClass === "K" ? 0 : (allowed.get(unit) ?? 0));
      if (invariant && count > most) {
        fail(invariant, `${unit} acted ${count} times; ${most} is allowed`);
      }
    },
    allowedAgain(unit) {
      allowed.set(unit, (allowed.get(unit) ?? 0) + 1);
    },
    repeatAccepted: (unit) => void accepted.add(unit),
    forget(plan) {
      for (const known of [effects, allowed, accepted, lastCalls])
        for (const unit of known.keys()) if (unit.startsWith(`${plan}/`)) known.delete(unit);
    },
    sent(units, call) {
      for (const [index, unit] of units.entries()) {
        const one = `${unit} ${call.each[index]}`;
        const last = lastCalls.get(one);
        lastCalls.set(one, call);
        const isOther = last && last.planId !== call.planId && call.effectClass !== "R";
        if (!isOther || accepted.has(unit) || allowed.has(unit)) continue;
        if (call.effectClass === "K" && last.key === call.key) continue;
        // With a key an answered error may be followed by another call, of which the tool knows that it is another.
        const mayHaveActed = effects.has(one) || (call.effectClass !== "K" && isOpen(last.planId, unit));
        if (mayHaveActed)
          fail("versions-once", `${unit} acted in ${last.planId} and is called again with key ${call.key}`);
      }
      const name = units.join(",");
      const inVersion = `${call.planId} ${name}`;
      const before = sentBefore.get(inVersion);
      sentBefore.set(inVersion, call);
      if (before && !call.mayDiffer && before.arguments !== call.arguments) {
        fail("same-arguments", `${name} was sent ${before.arguments} and then ${call.arguments}`);
      }
      if (before && before.key !== call.key) {
        fail("same-key", `${name} was sent with key ${before.key} and then ${call.key}`);
      }
      if (call.key === undefined) return;
      const other = unitsOfKey.get(call.key);
      unitsOfKey.set(call.key, name);
      if (other !== undefined && other !== name)
        fail("same-key", `${other} and ${name} share key ${call.key}`);
    },
  };
}
