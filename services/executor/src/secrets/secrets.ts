/**
 * Secrets of plans. A plan says `secret://name`; the value is put in when the call is made and at no time before, so that intents, hashes,
 * approvals and everything else that is stored or shown know the name alone.
 *
 * 1. Only what the plan's own text says is filled in: what a tool has answered asks for nothing.
 * 2. A value goes only where the operator's servers file lets it go.
 * 3. What comes back from the call is stored without the values that it took along.
 */
import { isDeepStrictEqual } from "node:util";
import type { Outcome, StepErrorCode } from "@planwright/engine";
import {
  argumentsOfStep,
  type JsonObject,
  type JsonValue,
  type OutputText,
  type Plan,
  type SecretPlace,
  secretPlaces,
} from "@planwright/plan";
import type { SecretGrant, ToolCall, ToolClients } from "@planwright/tools";
import { createMasker, type Masker } from "./masker.ts";
import type { SecretSource } from "./secret-source.ts";

/** What secrets are read from, and who may have them. */
export interface SecretsParts {
  source: SecretSource;
  /** The servers file's word, by server. */
  servers: Readonly<Record<string, { readonly secrets: Readonly<Record<string, SecretGrant>> }>>;
}

/** The secrets of one plan. */
export interface PlanSecrets {
  /** Makes a call of a step with its secrets in it, or says why it is not made. */
  send(stepId: string, call: ToolCall, callTool: ToolClients["callTool"]): Promise<Outcome>;
}

/** All secrets of this process. */
export interface Secrets {
  /** Undefined for a plan that names none: its calls need not be looked at. */
  ofPlan(plan: { plan: Plan; tenant: string }): PlanSecrets | undefined;
  /** Takes out every value that this process has sent. */
  mask: Masker;
}

/** Values that are remembered for `mask`; a value that was replaced stays among them for a while. */
const MAX_REMEMBERED = 1_000;

/** Secrets from a source, for the servers that may have them. Without parts nothing may be sent anywhere. */
export function createSecrets(parts?: SecretsParts): Secrets {
  const sent = new Set<string>();
  let masker = createMasker([]);

  function remember(values: readonly string[]): void {
    if (values.every((value) => sent.has(value))) return;
    for (const value of values) sent.add(value);
    for (const oldest of sent) if (sent.size > MAX_REMEMBERED) sent.delete(oldest);
    masker = createMasker(sent);
  }

  async function send(
    places: readonly SecretPlace[],
    { call, tenant, callTool }: { call: ToolCall; tenant: string; callTool: ToolClients["callTool"] },
  ): Promise<Outcome> {
    const present = places.filter(({ keys, name }) => valueAt(call.arguments, keys) === `secret://${name}`);
    const values = new Map<string, string>();
    for (const name of new Set(present.map((place) => place.name))) {
      const grants = call.server === undefined ? undefined : parts?.servers[call.server]?.secrets;
      if (!parts || !isGranted(grants, { name, tool: call.tool, tenant }))
        return forbidden(name, call, tenant);
      const read = await parts.source.read(name);
      if ("missing" in read) return unknown(name, read.missing);
      values.set(name, read.value);
    }
    remember([...values.values()]);
    const args = structuredClone(call.arguments);
    for (const { keys, name } of present) setAt(args, keys, values.get(name) ?? "");
    return masked(await callTool({ ...call, arguments: args }), createMasker(values.values()));
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
        send(stepId, call, callTool) {
          const found = places.get(stepId);
          return found ? send(found, { call, tenant, callTool }) : callTool(call);
        },
      };
    },
    mask: { text: (text) => masker.text(text), json: (value) => masker.json(value) },
  };
}

function isGranted(
  grants: Readonly<Record<string, SecretGrant>> | undefined,
  { name, tool, tenant }: { name: string; tool: string; tenant: string },
): boolean {
  const grant = grants && Object.hasOwn(grants, name) ? grants[name] : undefined;
  if (!grant) return false;
  return (grant.tools?.includes(tool) ?? true) && (grant.tenants?.includes(tenant) ?? true);
}

function forbidden(name: string, { tool, server }: ToolCall, tenant: string): Outcome {
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

function masked(outcome: Outcome, mask: Masker): Outcome {
  if (outcome.type === "completed") {
    const output = mask.json(outcome.output);
    return { type: "completed", output, text: maskedText(outcome, output, mask) };
  }
  if (outcome.type !== "failed") return outcome;
  const { message, data, ...error } = outcome.error;
  const shown = data === undefined ? {} : { data: mask.json(data) };
  return { ...outcome, error: { ...error, message: mask.text(message), ...shown } };
}

/** Escaped in the tool's own text a secret may look otherwise: where there was one, the text is that of the masked value. */
function maskedText(
  { output, text }: Outcome & { type: "completed" },
  shown: JsonValue,
  mask: Masker,
): OutputText | undefined {
  if (typeof text !== "string") return text;
  return isDeepStrictEqual(output, shown) ? mask.text(text) : 0;
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
