import { expect, test } from "vitest";
import { shownContextOf } from "./context-of.ts";

const createdAt = new Date("2026-11-25T08:00:00Z");

test("without a context it is the time when the request was accepted, in UTC", () => {
  expect(shownContextOf({ createdAt })).toEqual({ now: createdAt, timezone: "UTC", locale: null, facts: {} });
});

test("facts that look like credentials are left out, at any depth; names of secrets stay", () => {
  const facts = {
    userId: "u_17",
    apiKey: "hidden",
    mail: { password: "hidden", from: "ann@corp.com", key: "sk-hidden-0123456789" },
    list: ["a", "Bearer hidden.token.value", { token: "secret://crm-key" }],
  };
  expect(shownContextOf({ createdAt, context: { facts } }).facts).toEqual({
    userId: "u_17",
    mail: { from: "ann@corp.com" },
    list: ["a", { token: "secret://crm-key" }],
  });
});
