/**
 * Secrets of plans. A plan says `secret://name`; the value is put in when the call is made and at no time before, so that intents, hashes,
 * approvals and everything else that is stored or shown know the name alone.
 *
 * 1. Only what the plan's own text says is filled in: what a tool has answered asks for nothing.
 * 2. A value goes only where the operator's servers file lets it go.
 * 3. A value is known to the tool clients before it is sent: they take it out of everything that the server says from then on.
 */
import type { Outcome, StepErrorCode } from "@planwright/engine";
import {
  argumentsOfStep,
  type JsonObject,
  type JsonValue,
  type Plan,
  type SecretPlace,
  secretPlaces,
} from "@planwright/plan";
import type { Clearance, SecretGrant, ToolCall } from "@planwright/tools";
import type { SecretSource } from "./secret-source.ts";

/** What secrets are read from, and who may have them. */
export interface SecretsParts {
  source: SecretSource;
  /** The servers file's word, by server. */
  servers: Readonly<Record<string, { readonly secrets: Readonly<Record<string, SecretGrant>> }>>;
  /** Takes values out of what a server says from now on. */
  addSecrets: (server: string, values: readonly string[]) => void;
}

/** The secrets of one plan. */
export interface PlanSecrets {
  /** True when a call of a step with these arguments takes secrets along. */
  areIn(stepId: string, args: JsonObject): boolean;
  /** The arguments of a call with its secrets in them, or why it is not made. */
  fill(stepId: string, call: SecretCall): Promise<Clearance>;
}

/** A call that may take secrets along. */
export type SecretCall = Pick<ToolCall, "tool" | "server" | "arguments">;

/** All secrets of this process. */
export interface Secrets {
  /** Undefined for a plan that names none: its calls need not be looked at. */
  ofPlan(plan: { plan: Plan; tenant: string }): PlanSecrets | undefined;
  /** Reads what the servers may get, so that it is known although another executor sent it. */
  learn(): Promise<void>;
}

/** Secrets from a source, for the servers that may have them. Without parts nothing may be sent anywhere. */
export function createSecrets(parts?: SecretsParts): Secrets {
  async function fill(
    places: readonly SecretPlace[],
    { call, tenant }: { call: SecretCall; tenant: string },
  ): Promise<Clearance> {
    const present = presentIn(call.arguments, places);
    const values = new Map<string, string>();
    for (const name of new Set(present.map((place) => place.name))) {
      const grants = call.server === undefined ? undefined : parts?.servers[call.server]?.secrets;
      if (!parts || !isGranted(grants, { name, tool: call.tool, tenant }))
        return forbidden(name, call, tenant);
      const read = await parts.source.read(name);
      if ("missing" in read) return unknown(name, read.missing);
      values.set(name, read.value);
    }
    if (parts && call.server !== undefined) parts.addSecrets(call.server, [...values.values()]);
    const args = structuredClone(call.arguments);
    for (const { keys, name } of present) setAt(args, keys, values.get(name) ?? "");
    return { type: "send", arguments: args };
  }

  return {
    ofPlan({ plan, tenant }) {
      const places = new Map<string, SecretPlace[]>();
      for (const step of plan.steps) {
        const found = secretPlaces(argumentsOfStep(step));
        if (found.length > 0) places.set(step.id, found);
      }
      if (places.size === 0) return undefined;
      return {
        areIn: (stepId, args) => presentIn(args, places.get(stepId) ?? []).length > 0,
        fill: (stepId, call) => fill(places.get(stepId) ?? [], { call, tenant }),
      };
    },
    async learn() {
      if (!parts) return;
      const { source, addSecrets } = parts;
      for (const [server, { secrets }] of Object.entries(parts.servers)) {
        const read = await Promise.all(Object.keys(secrets).map((name) => source.read(name)));
        addSecrets(
          server,
          read.flatMap((each) => ("value" in each ? [each.value] : [])),
        );
      }
    },
  };
}

/** The places at which the arguments, as they are to be sent, still name the secret that the plan's own text names there. */
function presentIn(args: JsonObject, places: readonly SecretPlace[]): SecretPlace[] {
  return places.filter(({ keys, name }) => valueAt(args, keys) === `secret://${name}`);
}

function isGranted(
  grants: Readonly<Record<string, SecretGrant>> | undefined,
  { name, tool, tenant }: { name: string; tool: string; tenant: string },
): boolean {
  const grant = grants && Object.hasOwn(grants, name) ? grants[name] : undefined;
  if (!grant) return false;
  return (grant.tools?.includes(tool) ?? true) && (grant.tenants?.includes(tenant) ?? true);
}

function forbidden(name: string, { tool, server }: SecretCall, tenant: string): Outcome {
  const message = `Nothing was called: tool ${tool} of server ${server ?? "(unknown)"} may not get the secret ${name} for tenant ${tenant}. If it may, name it under "secrets" of that server in the executors' servers file, restart them, and rerun the plan from this step`;
  return refused("SECRET_FORBIDDEN", message);
}

function unknown(name: string, missing: string): Outcome {
  const message = `Nothing was called: the executor has no secret ${name}: ${missing}. Then rerun the plan from this step`;
  return refused("SECRET_UNKNOWN", message);
}

function refused(code: StepErrorCode, message: string): Outcome {
  return { type: "failed", effect: "none", error: { code, message, retryable: false } };
}

type Container = JsonObject | JsonValue[];

/** The value behind keys of its own, one after the other. */
function valueAt(value: JsonValue, keys: readonly (string | number)[]): JsonValue | undefined {
  let current: JsonValue | undefined = value;
  for (const key of keys) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, key)) return undefined;
    current = (current as Container & Record<string | number, JsonValue>)[key];
  }
  return current;
}

/** Replaces a value that {@link valueAt} has found. */
function setAt(value: JsonObject, keys: readonly (string | number)[], text: string): void {
  const last = keys.at(-1);
  const holder = valueAt(value, keys.slice(0, -1));
  if (last === undefined || typeof holder !== "object" || holder === null) return;
  Object.defineProperty(holder, last, { value: text, enumerable: true, configurable: true, writable: true });
}
