/** Requests that wait, each for something else, and what a client does so that they end. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonValue } from "@planwright/plan";
import {
  type CountingToolServer,
  type OauthGateway,
  type System,
  startCountingToolServer,
  startOauthGateway,
} from "@planwright/testing";
import { expect } from "vitest";
import { z } from "zod";

const FoundSchema = z.object({
  status: z.string(),
  plan: z
    .object({
      status: z.string(),
      waitReason: z.string().nullable(),
      steps: z.array(z.object({ key: z.string(), status: z.string(), approvalHash: z.string().nullable() })),
    })
    .nullable(),
});
/** A request as its client reads it. */
export type Found = z.output<typeof FoundSchema>;

/** A system, in the process of the test or in others, whose tool servers include a vault. */
type AnySystem = Pick<System, "apiUrl" | "tools" | "model"> & { vault: Vault };

/** A tool server that wants a sign-in. */
export interface Vault extends Pick<OauthGateway, "signIn" | "endSignIns"> {
  /** What a system needs to use it. */
  system: { mcpServers: Record<string, object>; env: Record<string, string> };
  ledger: CountingToolServer["ledger"];
  close(): Promise<void>;
}

/** Starts a vault. */
export async function startVault(): Promise<Vault> {
  const folder = await mkdtemp(join(tmpdir(), "planwright-vault-"));
  const server = await startCountingToolServer({
    ledgerFile: join(folder, "ledger"),
    isOwnToolsOnly: true,
    tools: [
      {
        name: "deposit",
        description: "Deposits a value, once for each idempotency key.",
        annotations: { readOnlyHint: false, destructiveHint: false },
        contract: { mode: "parallel-safe", side_effects: true, idempotency: "key" },
        effect: "per-key",
      },
    ],
  });
  const gateway = await startOauthGateway({ target: server.url });
  return {
    ...gateway,
    system: {
      mcpServers: { vault: { url: gateway.url, auth: {}, trusted: true } },
      env: { PUBLIC_URL: "http://planwright.test" },
    },
    ledger: server.ledger,
    async close() {
      await Promise.all([gateway.close(), server.close()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const ServersSchema = z.object({
  toolServers: z.array(
    z.object({
      name: z.string(),
      state: z.string(),
      signIn: z.object({ url: z.string().nullable() }).nullable(),
    }),
  ),
});

/** Signs a person in at the vault, as soon as the system asks for it. */
async function signIn({ apiUrl, vault }: Pick<AnySystem, "apiUrl" | "vault">): Promise<void> {
  const find = async () => {
    const found = await ask({ apiUrl }, "{ toolServers { name state signIn { url } } }");
    return ServersSchema.parse(found).toolServers.find(({ name }) => name === "vault");
  };
  await expect.poll(async () => (await find())?.signIn?.url, { timeout: 30_000 }).toEqual(expect.any(String));
  const { pathname, search } = new URL(await vault.signIn((await find())?.signIn?.url ?? ""));
  expect((await fetch(new URL(`${pathname}${search}`, apiUrl))).status).toBe(200);
  await expect.poll(async () => (await find())?.state, { timeout: 30_000 }).toBe("CONNECTED");
}

/** A request that waits. */
export interface WaitingRequest {
  /** Makes it. @returns its id */
  begin(system: AnySystem): Promise<string>;
  waits(request: Found): boolean;
  /** What a client does later. */
  goOn(system: Pick<AnySystem, "apiUrl" | "vault">, requestId: string, request: Found): Promise<void>;
  /** The first format in which such a request may be stored; default: all. */
  sinceFormat?: number;
  /** Effects of its calls in the ledger of the tools: while it waits, and after its end. */
  effects: readonly [number, number];
}

/** Sends one operation. @returns its data */
export async function ask(
  { apiUrl }: Pick<System, "apiUrl">,
  query: string,
  variables: object = {},
): Promise<unknown> {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ query, variables });
  const answer: unknown = await (await fetch(apiUrl, { method: "POST", headers, body })).json();
  const { data, errors } = z.object({ data: z.unknown(), errors: z.unknown().optional() }).parse(answer);
  if (errors) throw new TypeError(JSON.stringify(errors));
  return data;
}

/** Reads a request. */
export async function find(system: Pick<System, "apiUrl">, id: string): Promise<Found> {
  const document = `query ($id: ID!) { request(requestId: $id) { status plan { status waitReason steps { key status approvalHash } } } }`;
  return z.object({ request: FoundSchema }).parse(await ask(system, document, { id })).request;
}

const MadeSchema = z.object({ made: z.object({ requestId: z.string() }) });

/** Submits a plan for execution. @returns the id of its request */
export async function submit(system: Pick<System, "apiUrl">, steps: readonly object[]): Promise<string> {
  const document = "mutation ($plan: JSON!) { made: submitPlan(plan: $plan) { requestId } }";
  return MadeSchema.parse(await ask(system, document, { plan: { steps } })).made.requestId;
}

const step = (id: string, tool: string, value: JsonValue, more: object = {}) => ({
  id,
  tool,
  arguments: { value },
  ...more,
});

const approve = (system: Pick<System, "apiUrl">, id: string, { plan }: Found) => {
  const waiting = plan?.steps.find(({ approvalHash }) => approvalHash !== null);
  return ask(
    system,
    "mutation ($id: ID!, $step: ID!, $hash: String!) { approve(requestId: $id, stepId: $step, approvalHash: $hash) { status } }",
    { id, step: waiting?.key, hash: waiting?.approvalHash },
  );
};

/** By what they wait for. */
export const WAITING_REQUESTS: Readonly<Record<string, WaitingRequest>> = {
  approval: {
    begin: (system) => submit(system, [step("a", "keyed_effect", "approval", { approval: true })]),
    waits: ({ plan }) => plan?.waitReason === "approval",
    async goOn(system, id, found) {
      await approve(system, id, found);
    },
    effects: [0, 1],
  },
  doubt: {
    begin(system) {
      system.tools.script({ plain_effect: [{ type: "lose-answer" }] });
      return submit(system, [
        step("a", "plain_effect", "doubt"),
        step("b", "keyed_effect", "<<a.value>> is settled"),
      ]);
    },
    waits: ({ plan }) => plan?.waitReason === "in doubt",
    async goOn(system, id) {
      const document = `mutation ($id: ID!) { resolveInDoubt(requestId: $id, stepKey: "a", resolution: completed, output: { value: "doubt" }) { status } }`;
      await ask(system, document, { id });
    },
    effects: [1, 2],
  },
  retry: {
    begin(system) {
      system.tools.script({ set_value: [{ type: "status", status: 503, retryAfterSeconds: 20 }] });
      return submit(system, [step("a", "set_value", "retry")]);
    },
    waits: ({ plan }) => plan?.steps[0]?.status === "RETRYING" && plan.status === "WAITING",
    goOn: () => Promise.resolve(),
    effects: [0, 1],
  },
  question: {
    async begin(system) {
      system.model.enqueue({ steps: [], missing: ["Which value?"] });
      const document =
        'mutation { made: createPlan(query: "Make the effect that I mean", execute: true) { requestId } }';
      return MadeSchema.parse(await ask(system, document)).made.requestId;
    },
    waits: ({ status }) => status === "NEEDS_INPUT",
    async goOn(system, id) {
      const document = `mutation ($id: ID!) { answerQuestions(requestId: $id, answers: ["question"]) { status } }`;
      await ask(system, document, { id });
    },
    effects: [0, 1],
  },
  pause: {
    begin: (system) =>
      submit(system, [
        step("a", "keyed_effect", "pause"),
        step("b", "keyed_effect", "<<a.value>> is over", { approval: true }),
      ]),
    waits: ({ plan }) => plan?.status === "PAUSED",
    async goOn(system, id, found) {
      await approve(system, id, found);
      await ask(system, "mutation ($id: ID!) { resume(requestId: $id) { status } }", { id });
    },
    effects: [1, 2],
  },
  "sign-in": {
    async begin(system) {
      await signIn(system);
      await system.vault.endSignIns();
      return await submit(system, [step("a", "deposit", "sign-in")]);
    },
    waits: ({ plan }) => plan?.status === "WAITING" && plan.waitReason === "sign-in",
    goOn: (system) => signIn(system),
    effects: [0, 1],
    sinceFormat: 7,
  },
};
