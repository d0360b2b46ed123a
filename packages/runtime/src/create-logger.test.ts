import { expect, test } from "vitest";
import { createLogger } from "./create-logger.ts";

function logged(write: (logger: ReturnType<typeof createLogger>) => void): Record<string, unknown> {
  const lines: string[] = [];
  write(createLogger({ service: "api", destination: { write: (line) => void lines.push(line) } }));
  return JSON.parse(lines[0]!);
}

test("a line carries service, level, ISO time, facts and message", () => {
  const line = logged((logger) => logger.info({ planId: "plan_1" }, "claimed"));
  expect(line).toMatchObject({ service: "api", level: "info", planId: "plan_1", msg: "claimed" });
  expect(new Date(String(line["time"])).toISOString()).toBe(line["time"]);
});

test.each([
  "password",
  "authorization",
  "Authorization",
  "apiKey",
  "x-api-key",
  "OPENAI_API_KEY",
  "token",
  "set-cookie",
])("the value of %s is redacted at any depth", (key) => {
  const line = logged((logger) =>
    logger.info({ [key]: "hidden", a: [{ b: { [key]: { deep: "hidden" } } }] }),
  );
  expect(JSON.stringify(line)).not.toContain("hidden");
  expect(line[key]).toBe("[redacted]");
});

test.each(["totalTokens", "idempotencyKey", "requestId"])("the value of %s is kept", (key) => {
  expect(logged((logger) => logger.info({ [key]: "kept" }))[key]).toBe("kept");
});

test.each([
  ["mongodb://ann:hidden@host/db", "mongodb://[redacted]@host/db"],
  ["sent Bearer hidden.token.value", "sent Bearer [redacted]"],
  ["key sk-hidden-0123456789", "key [redacted]"],
])("credentials inside the text %s are redacted", (text, expected) => {
  expect(logged((logger) => logger.info({ text }))["text"]).toBe(expected);
});

test("an error keeps its message, code and cause, without credentials", () => {
  const cause = new TypeError("no route to redis://u:hidden@host");
  const line = logged((logger) => logger.error({ err: new RangeError("offer failed", { cause }) }));
  expect(line["err"]).toMatchObject({ type: "RangeError", message: expect.stringContaining("offer failed") });
  expect(JSON.stringify(line)).toContain("no route to");
  expect(JSON.stringify(line)).not.toContain("hidden");
});

test("bindings of a child logger are redacted too", () => {
  expect(logged((logger) => logger.child({ token: "hidden" }).info("x"))["token"]).toBe("[redacted]");
});
