/** How time, place and facts of the caller affect values in the answers of models. */
import { type JsonObject, type PlanningContext, type ToolDescriptor } from "@planwright/plan";
import { readModelAnswer } from "@planwright/reading";
import { describe, expect, test } from "vitest";

const text = { type: "string" };
const tool = (name: string, fields: string[], readOnlyHint = false): ToolDescriptor => ({
  name,
  inputSchema: {
    type: "object",
    properties: Object.fromEntries(fields.map((field) => [field, text])),
    required: fields.slice(0, 1),
  },
  annotations: { readOnlyHint },
});
const tools = [
  tool("remind", ["when", "note", "until"]),
  tool("list_orders", ["from", "to"], true),
  tool("send_mail", ["to", "account_id", "body"]),
];
/** A Wednesday, 09:52 in Berlin. */
const CONTEXT: PlanningContext = {
  now: new Date("2026-11-25T08:52:11Z"),
  timezone: "Europe/Berlin",
  locale: null,
  facts: {},
};

interface Asked {
  query: string;
  tool?: string;
  arguments: JsonObject;
  context?: Partial<PlanningContext>;
}

function diagnostics({ query, tool: name = "remind", arguments: given, context }: Asked) {
  const answer = JSON.stringify({ steps: [{ tool: name, arguments: given }] });
  const read = readModelAnswer(answer, { tools, query, context: { ...CONTEXT, ...context } });
  return read.diagnostics;
}
const errors = (asked: Asked) =>
  diagnostics(asked)
    .filter(({ severity }) => severity === "error")
    .map(({ code }) => code);

describe("a date that the request's words mean is sourced", () => {
  test.each([
    ["remind me tomorrow", { when: "2026-11-26" }],
    ["remind me tomorrow", { when: "tomorrow" }],
    ["remind me tomorrow", { when: "26.11.2026" }],
    ["remind me tomorrow at 9", { when: "2026-11-26T09:00:00+01:00" }],
    ["remind me tomorrow at 9", { when: "2026-11-26T08:00:00Z" }],
    ["remind me tomorrow at 9", { when: "2026-11-26T09:00:00" }],
    ["remind me in two hours", { when: "2026-11-25T10:52:11Z" }],
    ["remind me in two hours", { when: "2026-11-25T11:52" }],
    ["remind me next Friday", { when: "2026-12-04" }],
    ["remind me next Friday", { when: "2026-11-27" }],
    ["remind me on Monday about the 2026-10-01 report", { when: "2026-11-30", note: "2026-10-01" }],
    ["remind me tomorrow of the March 5, 2027 release", { when: "2026-11-26", until: "2027-03-05" }],
    // A date that follows from a day in the plan is an assumption.
    ["remind me tomorrow, for three days", { when: "2026-11-26", until: "2026-11-29" }],
  ])("%s: %o", (query, given) => {
    expect(errors({ query, arguments: given })).toEqual([]);
  });
});

describe("a date that contradicts the request's words is an error that names the right one", () => {
  test.each([
    ["remind me tomorrow", { when: "2026-11-27" }, '"tomorrow" is 2026-11-26'],
    ["remind me tomorrow", { when: "2024-06-02" }, '"tomorrow" is 2026-11-26'],
    ["remind me tomorrow at 9", { when: "2026-11-26T09:00:00Z" }, "2026-11-26T09:00:00+01:00"],
    ["remind me in two hours", { when: "2026-11-25T10:52:11" }, "2026-11-25T11:52:11+01:00"],
    ["remind me next Friday", { when: "2026-11-28" }, '"next Friday" is 2026-12-04 or 2026-11-27'],
    ["remind me on December 5", { when: "2024-12-05" }, '"December 5" is 2026-12-05'],
  ])("%s: %o", (query, given, says) => {
    const [found] = diagnostics({ query, arguments: given });
    expect(found).toMatchObject({
      code: "ARGUMENT_DATE",
      severity: "error",
      path: "steps[0].arguments.when",
    });
    expect(found?.message).toContain(says);
  });

  test("any of several consecutive days is right, and so is the day after the last one", () => {
    const list = (from: string, to: string) =>
      errors({ query: "list orders from last week", tool: "list_orders", arguments: { from, to } });
    expect(list("2026-11-16", "2026-11-22")).toEqual([]);
    expect(list("2026-11-16", "2026-11-23")).toEqual([]);
    expect(list("2025-11-17", "2025-11-23")).toEqual(["ARGUMENT_DATE", "ARGUMENT_DATE"]);
  });

  test("when there is only one reading, it is the suggestion", () => {
    expect(
      diagnostics({ query: "remind me tomorrow", arguments: { when: "2026-11-27" } })[0]?.suggestion,
    ).toBe("2026-11-26");
    expect(
      diagnostics({ query: "remind me next Friday", arguments: { when: "2026-11-28" } })[0]?.suggestion,
    ).toBeUndefined();
  });
});

describe("when the meaning of the words is unknown, a date stays an assumption", () => {
  test.each([
    ["remind me every Monday", { when: "2026-12-07" }],
    ["remind me the day before the party tomorrow", { when: "2026-11-25" }],
    ["remind me tomorrow at 9 EST", { when: "2026-11-26T14:00:00Z" }],
    ['remind me of "tomorrow never dies" on the last day', { when: "2026-11-30" }],
  ])("%s", (query, given) => {
    expect(errors({ query, arguments: given })).toEqual([]);
  });

  test("an unsupported language is judged as without a context", () => {
    const asked = { query: "erinnere mich morgen", arguments: { when: "2026-11-29" } };
    expect(errors(asked)).not.toContain("ARGUMENT_DATE");
  });

  test("without a context the day is unknown", () => {
    const answer = JSON.stringify({ steps: [{ tool: "remind", arguments: { when: "2026-11-27" } }] });
    expect(readModelAnswer(answer, { tools, query: "remind me tomorrow" })).toMatchObject({ ok: true });
  });
});

describe("values of the caller's facts have a source", () => {
  const facts = { accounts: { main: "acc_77-12" }, boss: "ann@corp.com", level: 7, key: "secret://crm-key" };
  const mail = (args: JsonObject, known: JsonObject = facts) =>
    errors({ query: "mail my boss", tool: "send_mail", arguments: args, context: { facts: known } });

  test("ids, addresses and numbers in the facts are not invented", () => {
    const given = { to: "ann@corp.com", account_id: "acc_77-12", body: "7" };
    expect(mail(given)).toEqual([]);
    expect(mail(given, {})).toEqual(["ARGUMENT_UNSOURCED", "ARGUMENT_UNSOURCED"]);
  });

  test("a value that the facts contain only in part, or only as a name, is invented", () => {
    expect(mail({ to: "ann@corp.com", account_id: "acc_7" })).toEqual(["ARGUMENT_UNSOURCED"]);
    expect(mail({ to: "ann@corp.com", account_id: "accounts" })).toEqual(["ARGUMENT_UNSOURCED"]);
  });

  test("a placeholder that is a value of the facts is accepted", () => {
    expect(mail({ to: "ann@corp.com", body: "<signature>" })).toContain("ARGUMENT_PLACEHOLDER");
    expect(mail({ to: "ann@corp.com", body: "<signature>" }, { ...facts, sign: "<signature>" })).toEqual([]);
  });

  test("only a secret that the facts name may be used", () => {
    expect(mail({ to: "ann@corp.com", body: "secret://crm-key" })).toEqual([]);
    expect(mail({ to: "ann@corp.com", body: "secret://other-key" })).toContain("SECRET_UNSOURCED");
  });

  test("a date of the facts contradicts nothing", () => {
    const given = { when: "2027-01-31" };
    const query = "remind me tomorrow when my contract ends";
    expect(errors({ query, arguments: given })).toEqual(["ARGUMENT_DATE"]);
    expect(errors({ query, arguments: given, context: { facts: { contractEnd: "2027-01-31" } } })).toEqual(
      [],
    );
  });
});
