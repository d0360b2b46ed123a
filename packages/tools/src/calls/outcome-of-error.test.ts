import { ProtocolError } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { createCallTrace } from "../connection/call-trace.ts";
import { excerptOf } from "../connection/errors.ts";
import { outcomeOfError } from "./outcome-of-error.ts";

const FACES = "\u{1f600}".repeat(2_000);

test("what is cut out of a text of a server ends between two characters", () => {
  expect(excerptOf(`x${FACES}`)).toBe(`x${FACES.slice(0, 156)}...`);
  expect(excerptOf(FACES)).toBe(`${FACES.slice(0, 156)}...`);
  const trace = { ...createCallTrace("1"), sent: true };
  const call = {
    tool: "t",
    ownName: "t",
    server: "s",
    timeoutMs: 1,
    trace,
    cancelled: false,
    hasServerSession: false,
  };
  expect(outcomeOfError(new ProtocolError(-32_000, FACES), call).error.message).toBe(
    `t: ${FACES.slice(0, 1_996)}...`,
  );
});
