import { fc, test } from "@fast-check/vitest";
import { DIAGNOSTIC_CODES, type JsonObject, printPlan } from "@planwright/plan";
import { readModelAnswer } from "@planwright/reading";
import { expect } from "vitest";
import { BASE_PLANS, TOOLS } from "./answers/base-plans.ts";
import { printJson } from "./answers/json-style.ts";

const codes = new Set<string>(DIAGNOSTIC_CODES);

/** Properties of every answer: a plan without errors, or at least one error; only known codes. */
function expectAnswer(text: string, finishReason?: string) {
  const read = readModelAnswer(text, { tools: TOOLS, query: "List all authors", finishReason });
  for (const { code, message } of read.diagnostics) {
    expect(codes.has(code)).toBe(true);
    expect(message).not.toBe("");
  }
  expect(read.ok).toBe(read.diagnostics.every(({ severity }) => severity !== "error"));
  return read;
}

const base = fc.constantFrom(...BASE_PLANS);
const style = fc.record({
  indent: fc.boolean(),
  quotes: fc.constantFrom(undefined, "single" as const, "curly" as const),
  trailingCommas: fc.boolean(),
  comments: fc.constantFrom(undefined, "//" as const, "/*" as const, "#" as const),
  bareNames: fc.boolean(),
  pythonWords: fc.boolean(),
});
const written = fc
  .tuple(base, style)
  .map(([{ written: steps }, { quotes, comments, ...rest }]) =>
    printJson({ steps: [...steps] }, { ...rest, ...(quotes && { quotes }), ...(comments && { comments }) }),
  );
const piece = fc.constantFrom(
  ...'{ } [ ] : , " \' “ ” \\ \\" ` ```json // /* */ # <think> </think> <|channel|>final<|message|> <tool_call> steps tools plan tool name'.split(
    " ",
  ),
  "\n",
  '"steps":',
  '{"tool":"listAuthors"}',
  '{"steps":[{"tool":"listAuthors"}]}',
  "null",
  "__proto__",
  "1",
  "...",
);

test.prop([fc.string({ unit: "binary", maxLength: 200 })])("any text gives a valid result", (text) => {
  expectAnswer(text);
});

test.prop([fc.array(piece, { maxLength: 40 })])(
  "any sequence of JSON pieces gives a valid result",
  (pieces) => {
    expectAnswer(pieces.join(""));
    expectAnswer(pieces.join(" "));
  },
);

test.prop([written, fc.nat(), fc.nat(8), fc.array(piece, { maxLength: 3 })])(
  "a plan with removed or inserted text gives a valid result",
  (text, position, length, put) => {
    const at = position % text.length;
    expectAnswer(text.slice(0, at) + put.join("") + text.slice(at + length));
  },
);

const weather = BASE_PLANS.find(({ query }) => query.startsWith("Weather"));

/** A backslash changes the meaning of the character after it. */
const harmless = piece.filter((text) => !text.includes("\\"));

test.prop([style, fc.nat(), fc.nat(8), fc.array(harmless, { maxLength: 3 })])(
  "whatever is removed or inserted, a plan has no tool and no text that the answer does not contain",
  ({ quotes, comments, ...rest }, position, length, put) => {
    const steps = [...(weather?.written ?? [])];
    const whole = printJson({ steps }, { ...rest, ...(quotes && { quotes }), ...(comments && { comments }) });
    const at = position % whole.length;
    const text = whole.slice(0, at) + put.join("") + whole.slice(at + length);
    const read = expectAnswer(text);
    if (!read.ok) return;
    // The rest of a cut reference may be read as a reference in another notation, and is then written in
    // ours.
    const withoutSigns = (of: string) => of.replaceAll(/[<>\\]/g, "");
    const plain = withoutSigns(text);
    for (const step of read.plan.steps) {
      if (!("tool" in step)) continue;
      expect(plain).toContain(withoutSigns(step.tool));
      for (const value of Object.values(step.arguments).flat())
        if (typeof value === "string") expect(plain).toContain(withoutSigns(value));
    }
  },
);

test.prop([fc.anything(), fc.string()])("any JSON gives a valid result", (value, finishReason) => {
  expectAnswer(JSON.stringify(value) ?? "", finishReason);
});

test.prop([base, style, fc.nat()])(
  "a plan that is cut anywhere is never a plan",
  ({ written: steps }, { quotes, comments, ...rest }, position) => {
    const text = printJson(
      { steps: [...steps] },
      { ...rest, ...(quotes && { quotes }), ...(comments && { comments }) },
    );
    // Text after the last bracket is not part of the plan.
    const end = text.lastIndexOf("}");
    expect(expectAnswer(text.slice(0, position % end)).ok).toBe(false);
  },
);

test.prop([base, style])(
  "a plan that was read, printed and read again is the same",
  ({ query, written: steps }, { quotes, comments, ...rest }) => {
    const text = printJson(
      { steps: [...steps] },
      { ...rest, ...(quotes && { quotes }), ...(comments && { comments }) },
    );
    const first = readModelAnswer(text, { tools: TOOLS, query });
    if (!first.ok) throw new TypeError("the plan was not read", { cause: first.diagnostics });
    const printed = printPlan(first.plan);
    expect(readModelAnswer(printed, { tools: TOOLS, query })).toEqual({
      ok: true,
      plan: first.plan,
      diagnostics: [],
      repaired: false,
    });
  },
);

const word = fc
  .stringMatching(/^[a-zA-Z0-9 .,:;!?'"`{}[\]()<>/\\#*_-]{0,40}$/)
  .filter((text) => !/<<|\{\{|\$ref:/.test(text));
const textArguments = fc.dictionary(
  fc.constantFrom("to", "subject", "body"),
  word.filter((text) => text.trim() !== ""),
  { minKeys: 1 },
);

test.prop([textArguments, style])(
  "whatever the texts hold, they arrive as they were written, or the answer is refused",
  (args, { quotes, comments, ...rest }) => {
    const own: JsonObject = { to: "bob@corp.io", ...args };
    const text = printJson(
      { steps: [{ id: "mail", tool: "sendMail", arguments: own }] },
      { ...rest, ...(quotes && { quotes }), ...(comments && { comments }) },
    );
    const read = readModelAnswer(text, {
      tools: TOOLS,
      query: `bob@corp.io ${Object.values(args).join(" ")}`,
    });
    if (read.ok)
      expect(read.plan.steps).toEqual([{ id: "mail", tool: "sendMail", arguments: own, dependsOn: [] }]);
    else if (!quotes) expect(read.diagnostics.map(({ code }) => code)).toEqual([]);
  },
);
