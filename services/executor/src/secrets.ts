/**
 * Secrets of plans. A plan contains `secret://name`. The value is filled in only when the call is made, so
 * that intents, hashes, approvals and everything else that is stored or shown contain only the name.
 *
 * 1. Only names in the text of the plan are filled in; names in tool outputs are not.
 * 2. A value goes only to servers to which the operator's servers file grants it.
 * 3. The tool clients know a value before it is sent, and mask it in everything that the server answers from
 *    then on.
 */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Outcome, StepErrorCode } from "@planwright/engine";
import {
  argumentsOfStep,
  type JsonObject,
  type JsonValue,
  type Plan,
  SecretNameSchema,
  type SecretPlace,
  secretPlaces,
} from "@planwright/plan";
import type { Clearance, SecretGrant, ToolCall } from "@planwright/tools";

/** Where secrets are read from, and which servers may get them. */
interface SecretsParts {
  source: SecretSource;
  /** The grants of the servers file, by server. */
  servers: Readonly<Record<string, { readonly secrets: Readonly<Record<string, SecretGrant>> }>>;
  /** Masks these values in everything that a server answers from now on. */
  addSecrets: (server: string, values: readonly string[]) => void;
}

/** The secrets of one plan. */
export interface PlanSecrets {
  /** The places of a step's arguments where the text of the plan has a secret. */
  placesOf(stepId: string): readonly SecretPlace[];
  /** The arguments of a call with its secrets filled in, or the outcome if the call must not be made. */
  fill(call: SecretCall): Promise<Clearance>;
}

/** Values of secrets by their names. */
export type SecretValues = ReadonlyMap<string, string>;

/** A call that may contain secrets. */
interface SecretCall extends Pick<ToolCall, "tool" | "server"> {
  /** Where its arguments still have the names of secrets: see {@link presentIn}. */
  present: readonly SecretPlace[];
  /** Its arguments with these values. */
  fillIn(values: SecretValues): Promise<JsonObject | Uint8Array>;
}

/** All secrets of this process. */
export interface Secrets {
  /** Undefined for a plan that names no secret: its calls need no check. */
  ofPlan(plan: { plan: Plan; tenant: string }): PlanSecrets | undefined;
  /** Reads the secrets that servers may get, so that they are masked even if another executor sent them. */
  learn(): Promise<void>;
}

/** Secrets from a source, for the servers that may have them. Without parts no secret may be sent. */
export function createSecrets(parts?: SecretsParts): Secrets {
  async function fill(call: SecretCall, tenant: string): Promise<Clearance> {
    const { present } = call;
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
    return { type: "send", arguments: await call.fillIn(values) };
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
        placesOf: (stepId) => places.get(stepId) ?? [],
        fill: (call) => fill(call, tenant),
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

/**
 * The positions where the arguments to send still contain the secret name that the text of the plan has
 * there.
 */
export function presentIn(args: JsonObject, places: readonly SecretPlace[]): SecretPlace[] {
  return places.filter(({ keys, name }) => valueAt(args, keys) === `secret://${name}`);
}

/** A copy of the arguments with the values of secrets in these places. */
export function withSecrets(
  args: JsonObject,
  present: readonly SecretPlace[],
  values: SecretValues,
): JsonObject {
  const filled = structuredClone(args);
  for (const { keys, name } of present) setAt(filled, keys, values.get(name) ?? "");
  return filled;
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

/** The value at a path of own properties. */
function valueAt(value: JsonValue, keys: readonly (string | number)[]): JsonValue | undefined {
  let current: JsonValue | undefined = value;
  for (const key of keys) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, key)) return undefined;
    current = (current as Container & Record<string | number, JsonValue>)[key];
  }
  return current;
}

/** Replaces a value that {@link valueAt} found. */
function setAt(value: JsonObject, keys: readonly (string | number)[], text: string): void {
  const last = keys.at(-1);
  const holder = valueAt(value, keys.slice(0, -1));
  if (last === undefined || typeof holder !== "object" || holder === null) return;
  Object.defineProperty(holder, last, { value: text, enumerable: true, configurable: true, writable: true });
}

/** Where the values of secrets are stored. */
interface SecretLocations {
  /** A folder with one file for each secret, as Docker and Kubernetes mount them. Default: none. */
  directory?: string | undefined;
  /** Variables of the environment; those named `PLANWRIGHT_SECRET_...` are secrets. Default: none. */
  variables?: Readonly<Record<string, string | undefined>> | undefined;
}

/** Reads the values of secrets. */
interface SecretSource {
  /** The current value, or why there is none: the end of a sentence that helps an operator. */
  read(name: string): Promise<{ value: string } | { missing: string }>;
}

/** Longest value, in characters. */
const MAX_LENGTH = 65_536;

/**
 * Reads a secret at each use, so that a replaced file takes effect at once. A file overrides a variable; one
 * line break at the end of a file is not part of the value.
 */
export function createSecretSource({ directory, variables = {} }: SecretLocations): SecretSource {
  return {
    async read(name) {
      // The name of a secret is also a file name, so a name that leads to another folder must be rejected.
      if (!SecretNameSchema.safeParse(name).success) return { missing: "its name is not valid for a secret" };
      const file = directory === undefined ? {} : await readText(join(directory, name));
      if (file.failure !== undefined) return { missing: `its file cannot be read (${file.failure})` };
      const variable = variableOf(name);
      const value =
        file.text?.replace(/\r?\n$/, "") ??
        (Object.hasOwn(variables, variable) ? variables[variable] : undefined);
      if (value === undefined) {
        const inFolder = directory === undefined ? "set SECRETS_DIR to a folder with" : "put";
        return {
          missing: `${inFolder} a file ${name}${directory === undefined ? "" : " into SECRETS_DIR"}, or set ${variable}`,
        };
      }
      if (value === "") return { missing: "it is empty" };
      return value.length > MAX_LENGTH
        ? { missing: `it is longer than ${MAX_LENGTH} characters` }
        : { value };
    },
  };
}

/** `crm-key` is PLANWRIGHT_SECRET_CRM_KEY. */
function variableOf(name: string): string {
  return `PLANWRIGHT_SECRET_${name.toUpperCase().replace(/[^A-Z0-9]/g, "_")}`;
}

/** Both fields are absent when there is no such file. @returns the code of the error in `failure` */
async function readText(file: string): Promise<{ text?: string; failure?: string }> {
  try {
    return { text: await readFile(file, "utf8") };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown reason";
    return code === "ENOENT" ? {} : { failure: code };
  }
}
