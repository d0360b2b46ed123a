/** Requests that wait, each for something else, and what a client does so that they end. */
import type { JsonValue } from "@planwright/plan";
import type { System } from "@planwright/testing";
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

/** A system, in the process of the test or in others. */
type AnySystem = Pick<System, "apiUrl" | "tools" | "model">;

/** A request that waits. */
export interface WaitingRequest {
  /** Makes it. @returns its id */
  begin(system: AnySystem): Promise<string>;
  waits(request: Found): boolean;
  /** What a client does later. */
  goOn(system: Pick<System, "apiUrl">, requestId: string, request: Found): Promise<void>;
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
};
