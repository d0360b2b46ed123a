import type { StepRun } from "@planwright/client";
import { parseExactJson } from "@planwright/plan";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { TIMES } from "../../../../packages/client/test/progress.ts";
import { type RequestRow } from "../data/list-operations.ts";
import { STEP_LOOK } from "../parts/looks.ts";
import { StepFacts } from "../request/inspector.tsx";
import { amountOf, firstToExpire } from "./home-cards.tsx";
import { COLUMNS, columnsOf, timeModeOf, timeText } from "./request-table.tsx";

const AT = "2026-11-24T10:00:00.000Z";
const NOW = Date.parse(AT) + 90_000;

test("the address names the columns, whose order is fixed; by default the usual ones are shown", () => {
  expect(columnsOf(new URLSearchParams("columns=tags,error,nothing"))).toEqual(["error", "tags"]);
  expect(columnsOf(new URLSearchParams("columns="))).toEqual([]);
  expect(columnsOf(new URLSearchParams())).toEqual(["error", "steps", "duration", "created"]);
});

test("times are relative, local or in UTC", () => {
  expect(timeText(AT, { now: NOW, time: "relative" })).toBe("1 min ago");
  expect(timeText(AT, { now: NOW, time: "UTC" })).toBe("2026-11-24 10:00:00 UTC");
  const local = timeText(AT, { now: NOW, time: "local" });
  expect(Date.parse(local.replace(" ", "T"))).toBe(Date.parse(AT));
  expect(timeModeOf(new URLSearchParams("time=else"))).toBe("relative");
});

test.each(TIMES)(
  "%d ms of own time and %d ms of people are told everywhere as: %s",
  (durationMs, waited, words) => {
    const times = { durationMs, waitedForPeopleMs: waited };
    const row = { plan: times } as unknown as RequestRow;
    const cell = COLUMNS.duration.cell(row);
    expect(renderToStaticMarkup(cell)).toContain(`>${words}<`);
    const facts = createElement(StepFacts, {
      step: {
        ...times,
        waitReason: null,
        startedAt: null,
        effectClass: null,
        effect: null,
      } as unknown as StepRun,
      look: STEP_LOOK.COMPLETED,
      trace: { traceId: null, traceUrl: null },
      versions: [],
      onVersion: () => undefined,
    });
    expect(renderToStaticMarkup(facts)).toContain(`<dt>took</dt><dd>${words}</dd>`);
  },
);

test("the requests that need a person are in the order of the time that is shown", () => {
  const row = (expiresAt: string | null) => ({ plan: expiresAt === "none" ? null : { expiresAt } });
  const rows = [row(null), row("2026-12-02T08:00:00.000Z"), row("none"), row("2026-12-01T08:00:00.000Z")];
  expect(firstToExpire(rows).map(({ plan }) => plan?.expiresAt?.slice(8, 10))).toEqual([
    "01",
    "02",
    undefined,
    undefined,
  ]);
});

test.each([
  [{ amount: 1_200.5, currency: "EUR" }, "1,200.5 EUR"],
  [{ customer: "c1", total: 7 }, "7"],
  [{ amount_cents: 990 }, "990 cents"],
  [{ amount: { value: 7 } }, undefined],
  [{ value: 7, name: "a" }, undefined],
  ["text", undefined],
])("the amount of a call with %j is %j", (given, amount) => {
  expect(amountOf(given)).toBe(amount);
});

test.each([
  ["a small number", '{"amount":0.00045}', "0.00045"],
  ["a number that a double would change", '{"amount":1234567890123456789012}', "1234567890123456789012"],
  ["a number in a long text", '{"amount":"1234567890123456789012"}', "1234567890123456789012"],
  ["a text that is far too long", `{"amount":"${"9".repeat(60)}"}`, `${"9".repeat(39)}…`],
  ["a text with a change of direction", '{"amount":"12\u202e34"}', "12[U+202E]34"],
])("%s is shown as it is sent", (_what, given, amount) => {
  expect(amountOf(parseExactJson(given))).toBe(amount);
});
