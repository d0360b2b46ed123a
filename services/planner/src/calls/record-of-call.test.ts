import { expect, test } from "vitest";
import { keptText } from "./record-of-call.ts";
import { redactedError } from "./redacted-error.ts";

test("what is kept of a call with a model holds no secret", () => {
  expect(keptText('Call it with {"apiKey":"hidden"} at https://ann:hidden@host')).toBe(
    'Call it with {"apiKey":"[redacted]"} at https://[redacted]@host',
  );
  expect(redactedError({ code: "MODEL_UNAUTHORIZED", message: "Wrong key sk-hidden-0123456789" })).toEqual({
    code: "MODEL_UNAUTHORIZED",
    message: "Wrong key [redacted]",
  });
});
