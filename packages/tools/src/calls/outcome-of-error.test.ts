import { ProtocolError, SdkError, SdkErrorCode } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { createCallTrace } from "../connection/call-trace.ts";
import { excerptOf } from "../connection/errors.ts";
import { outcomeOfError } from "./outcome-of-error.ts";

const FACES = "\u{1f600}".repeat(2_000);

const CALL = {
  tool: "t",
  ownName: "t",
  server: "s",
  timeoutMs: 1,
  trace: { ...createCallTrace("1"), sent: true },
  cancelled: false,
  hasServerSession: false,
};

test.each([
  ["input_required", "reported", "t: it asks for input, which a plan cannot give"],
  [
    "task",
    "unknown",
    't: it gave an answer of the type "task", which is no result; whether it acts is not known',
  ],
])("an answer of the type %s has the effect %s", (resultType, effect, message) => {
  const error = new SdkError(SdkErrorCode.UnsupportedResultType, "Unsupported result type", { resultType });
  expect(outcomeOfError(error, CALL)).toMatchObject({ effect, error: { code: "TOOL_FAILED", message } });
});

test("what is cut out of a text of a server ends between two characters", () => {
  expect(excerptOf(`x${FACES}`)).toBe(`x${FACES.slice(0, 156)}...`);
  expect(excerptOf(FACES)).toBe(`${FACES.slice(0, 156)}...`);
  expect(outcomeOfError(new ProtocolError(-32_000, FACES), CALL).error.message).toBe(
    `t: ${FACES.slice(0, 1_996)}...`,
  );
});
