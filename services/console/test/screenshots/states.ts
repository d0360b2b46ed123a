import { createClient, graphql } from "@planwright/client";
import { answer, type CountingTool } from "@planwright/testing";
import type { ConsoleSystem } from "../console-system.ts";

const READ = { annotations: { readOnlyHint: true }, effect: "never" } as const;
const TEXT = { type: "string" } as const;

const ASK = graphql(`mutation ($query: String!) { createPlan(query: $query) { requestId } }`);
const AMEND = graphql(`
  mutation ($requestId: ID!, $plan: JSON!) {
    amendPlan(requestId: $requestId, fromVersion: 1, plan: $plan, execute: false) { request { version } }
  }
`);
const CANCEL = graphql(`mutation ($requestId: ID!) { cancel(requestId: $requestId) { requestId } }`);

/** Tools with the names of a shop, so that the pictures show what people know. */
export const SHOP_TOOLS: readonly CountingTool[] = [
  {
    name: "findCustomer",
    description: "Finds a customer by name or email.",
    ...READ,
    contract: { mode: "parallel-safe", side_effects: false, idempotency: "natural" },
    inputSchema: { type: "object", properties: { value: TEXT }, required: ["value"] },
  },
  {
    name: "listInvoices",
    description: "Lists the open invoices of a customer, oldest first.",
    ...READ,
    contract: { mode: "parallel-safe", side_effects: false, idempotency: "natural" },
  },
  {
    name: "chargeCard",
    description: "Charges the card of a customer. The same key charges once.",
    annotations: { readOnlyHint: false, destructiveHint: true },
    contract: { mode: "sequential-only", side_effects: true, idempotency: "key" },
    effect: "per-key",
  },
  {
    name: "sendReceipt",
    description: "Sends a receipt by email. Nothing can tell afterwards whether it was sent.",
    annotations: { readOnlyHint: false },
    contract: { mode: "parallel-safe", side_effects: true, idempotency: "none" },
    effect: "always",
    inputSchema: { type: "object", properties: { value: {}, history: {}, note: TEXT }, required: ["value"] },
  },
];

/** The requests that the pictures show. */
export interface States {
  completed: string;
  failed: string;
  approval: string;
  doubt: string;
  large: string;
  stored: string;
  running: string;
  question: string;
  cancelled: string;
  list: string;
  /** It has two versions. */
  amended: string;
}

/** A plan of the shop. */
export const CHARGE = [
  { id: "customer", tool: "findCustomer", arguments: { value: "alice@example.com" } },
  { id: "invoices", tool: "listInvoices", arguments: { value: "<<customer>>" } },
  { id: "history", tool: "listInvoices", arguments: { value: ["<<customer>>", "paid"] } },
  { id: "charge", tool: "chargeCard", arguments: { value: "<<invoices>>", currency: "EUR" } },
  { id: "receipt", tool: "sendReceipt", arguments: { value: "<<charge>>", history: "<<history>>" } },
];

/** Makes one request of each kind. */
export async function makeStates(system: ConsoleSystem): Promise<States> {
  const { tools, submit, expectStatus } = system;
  const slow = { type: "latency" as const, ms: 300 };
  tools.script({ findCustomer: [slow], listInvoices: [slow, slow], chargeCard: [slow], sendReceipt: [slow] });
  const completed = await submit("Charge Alice for her open invoices and send her the receipt", CHARGE);
  await expectStatus(completed, "COMPLETED");
  const refusal = { type: "tool-error" as const, message: "Card 4242 was declined: insufficient funds" };
  tools.script({ chargeCard: [refusal, refusal, refusal] });
  let failed = "";
  for (const name of ["Bob", "Carol", "Dora"]) {
    failed = await submit(`Charge ${name} for the open invoices and send the receipt`, CHARGE);
    await expectStatus(failed, "FAILED");
  }
  tools.script({ listInvoices: [{ type: "status", status: 400 }] });
  const fails = await submit("List the invoices of a customer that was deleted", CHARGE.slice(0, 2));
  await expectStatus(fails, "PARTIAL");
  const approval = await submit("Refund order 1042 to Eve after a look at the amount", [
    ...CHARGE.slice(0, 2),
    { ...CHARGE[3], id: "refund", approval: true },
  ]);
  tools.script({ sendReceipt: [{ type: "lose-answer" }] });
  const doubt = await submit("Send Frank his receipt once", [
    { id: "customer", tool: "findCustomer", arguments: { value: "frank@example.com" } },
    { id: "receipt", tool: "sendReceipt", arguments: { value: "<<customer>>" } },
  ]);
  await submit("שלח חשבונית לכל הלקוחות", [{ id: "a", tool: "listInvoices" }]);
  const stored = await submit("Charge Grace on the first of the month", CHARGE, false);
  const large = await submit("Read the invoices of 1,000 customers and add them up", largePlan());
  await expectStatus(large, "COMPLETED");
  const list = await makeList(system);
  const others = await makeOpen(system);
  return { completed, failed, approval, doubt, large, stored, list, ...others };
}

/** A list of 24 receipts, of which two are refused. */
async function makeList({ tools, submit, expectStatus }: ConsoleSystem): Promise<string> {
  const pause = { type: "latency" as const, ms: 20 };
  const message = "The address of this customer is not known";
  const refusal = { type: "tool-error" as const, message };
  tools.script({ chargeCard: [pause, refusal, pause, pause, pause, refusal] });
  const items = Array.from({ length: 24 }, (_, index) => `customer-${index + 1}@example.com`);
  const each = { tool: "chargeCard", arguments: { value: "<<item>>", currency: "EUR" } };
  const list = await submit("Charge the 24 customers of October", [
    { id: "customer", tool: "findCustomer", arguments: { value: "all" } },
    {
      id: "letters",
      dependsOn: ["customer"],
      forEach: { items, concurrency: 1, errors: "collect", do: each },
    },
  ]);
  await expectStatus(list, "PARTIAL");
  return list;
}

/** Requests in the middle of their work, or changed by a person. */
async function makeOpen({ tools, submit, expectStatus, apiUrl, model }: ConsoleSystem) {
  const client = createClient({ url: apiUrl });
  const refusal = { type: "tool-error" as const, message: "Card 4242 was declined: insufficient funds" };
  tools.script({ chargeCard: [refusal] });
  const amended = await submit("Charge Heidi and send her the receipt in English", CHARGE);
  await expectStatus(amended, "FAILED");
  const plan = { steps: [...CHARGE.slice(0, 2), { ...CHARGE[3], dependsOn: ["customer"] }] } as never;
  await client.execute(AMEND, { requestId: amended, plan });
  const long = { type: "latency" as const, ms: 600_000 };
  tools.script({ listInvoices: [long, long] });
  const slow = CHARGE.map((step) => ({ ...step, timeoutMs: 600_000 }));
  const cancelled = await submit("Charge Ivan, who has left the shop", slow);
  await client.execute(CANCEL, { requestId: cancelled });
  await expectStatus(cancelled, "CANCELLED");
  tools.script({ chargeCard: [long] });
  const running = await submit("Charge Judy while the bank takes its time", slow);
  model.script(() =>
    answer({
      steps: [{ id: "receipt", tool: "sendReceipt", arguments: { note: "October" } }],
      missing: [{ step: "receipt", parameter: "value", question: "To which address is it sent?" }],
    }),
  );
  const { createPlan } = await client.execute(ASK, { query: "Send the receipt to the customer" });
  await expectStatus(createPlan.requestId, "NEEDS_INPUT");
  return { amended, cancelled, running, question: createPlan.requestId };
}

/** 1,000 steps: ten that begin, then chains that meet in one. */
function largePlan(): object[] {
  const steps = Array.from({ length: 999 }, (_, index) => ({
    id: `read${index}`,
    tool: "noop",
    arguments: { value: index },
    dependsOn: index < 10 ? [] : [`read${index - 10}`],
  }));
  const last = steps.slice(-10).map(({ id }) => id);
  return [...steps, { id: "total", tool: "noop", arguments: { value: "sum" }, dependsOn: last }];
}
