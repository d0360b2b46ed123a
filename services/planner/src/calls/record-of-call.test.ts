import { expect, test } from "vitest";
import { keptText, partialText, redactedError } from "./call-meter.ts";

test("the record of a model call contains no secret", () => {
  expect(keptText('Call it with {"apiKey":"hidden"} at https://ann:hidden@host')).toBe(
    'Call it with {"apiKey":"[redacted]"} at https://[redacted]@host',
  );
  expect(redactedError({ code: "MODEL_UNAUTHORIZED", message: "Wrong key sk-hidden-0123456789" })).toEqual({
    code: "MODEL_UNAUTHORIZED",
    message: "Wrong key [redacted]",
  });
});

test("no beginning of a text shows a part of a secret", () => {
  const text =
    'Use "sk-hidden-0123456789abcdef", {"password": "hidden too"} and https://ann:hidden@host/x now';
  const shown = Array.from({ length: text.length + 1 }, (_, length) => partialText(text.slice(0, length)));
  expect(shown.filter((part) => /hid/.test(part))).toEqual([]);
  expect(shown.at(-1)).toBe('Use "[redacted]", {"password": "[redacted]"} and https://[redacted]@host/x ');
});

test("a long word in the middle of a partial text takes no time", () => {
  const text = `{"image": "${"A".repeat(65_000)}", "next": "wor`;
  const startedAt = performance.now();
  expect(partialText(text)).toBe(text.slice(0, -3));
  expect(performance.now() - startedAt).toBeLessThan(1_000);
});
