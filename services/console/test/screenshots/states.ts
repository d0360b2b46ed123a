import type { CountingTool } from "@planwright/testing";
import type { ConsoleSystem } from "../console-system.ts";

const READ = { annotations: { readOnlyHint: true }, effect: "never" } as const;
const TEXT = { type: "string" } as const;

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
  return { completed, failed, approval, doubt, large, stored };
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
