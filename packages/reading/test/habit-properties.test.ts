import { fc, test } from "@fast-check/vitest";
import { parsePlan } from "@planwright/plan";
import { readModelAnswer } from "@planwright/reading";
import { describe, expect } from "vitest";
import { TOOLS } from "./answers/base-plans.ts";
import { DESK_TOOLS } from "./answers/desk-tools.ts";
import { type Call, CHOICES, callsOf, type Habit, writeCalls } from "./answers/habits.ts";
import { printJson } from "./answers/json-style.ts";

const tools = [...TOOLS, ...DESK_TOOLS];
const text = fc.constantFrom(
  "Hello",
  "a, b: c",
  "what's [1] {2}?",
  "# no comment",
  "42",
  "say if not",
  "für 東京",
);
const style = fc.record({
  indent: fc.boolean(),
  trailingCommas: fc.boolean(),
  bareNames: fc.boolean(),
  pythonWords: fc.boolean(),
});

/** The parts of each call, and the distance of its references. */
const draft = fc.record({
  kind: fc.constantFrom("author", "blog", "mail", "list", "ticket", "summary"),
  words: fc.tuple(text, text),
  back: fc.nat(3),
  waits: fc.boolean(),
});
type CallDraft = typeof draft extends fc.Arbitrary<infer Value> ? Value : never;

function toCall({ kind, words: [one, other], back, waits }: CallDraft, before: readonly Call[]): Call {
  const id = `${kind}-${before.length}`;
  const source = before.at(-1 - (back % Math.max(before.length, 1)));
  const dependsOn = waits && source ? [source.id] : [];
  const call = (tool: string, args: Call["arguments"]): Call => ({ id, tool, arguments: args, dependsOn });
  switch (kind) {
    case "author":
      return call("createAuthor", { name: one, email: "alice@test.com" });
    case "blog": {
      const author = before.find(({ tool }) => tool === "createAuthor");
      return author
        ? call("createBlog", { title: one, content: other, authorId: `<<${author.id}._id>>` })
        : call("listAuthors", {});
    }
    case "mail":
      return call("sendMail", {
        to: "bob@corp.io",
        subject: one,
        body: source ? `${other}: <<${source.id}>>` : other,
      });
    case "list":
      return call("listAuthors", {});
    case "ticket":
      return call("closeTicket", { ticketId: "T-100", note: one });
    case "summary":
      return call("summarize", { texts: source ? [one, `<<${source.id}>>`] : [one] });
  }
}

const calls = fc.array(draft, { minLength: 1, maxLength: 5 }).map((drafts) => {
  const made: Call[] = [];
  for (const each of drafts) made.push(toCall(each, made));
  return made;
});
const one = <Value>(values: readonly Value[]) => fc.constantFrom(...values);
const habits: fc.Arbitrary<Habit> = fc.record({
  toolField: one(CHOICES.toolField),
  argumentsField: one(CHOICES.argumentsField),
  idField: one(CHOICES.idField),
  dependsField: one(CHOICES.dependsField),
  container: one(CHOICES.container),
  arguments: one(CHOICES.arguments),
  dependency: one(CHOICES.dependency),
  noDependency: one(CHOICES.noDependency),
  reference: one(CHOICES.reference),
  notes: one(CHOICES.notes),
  planNotes: one(CHOICES.planNotes),
  effect: fc.constant(undefined),
});
const query =
  "Hello, a, b: c, what's [1] {2}? # no comment 42 say if not für 東京 alice@test.com bob@corp.io T-100";

const read = (document: string) => readModelAnswer(document, { tools, query });

/** `npm test` draws a tenth, `npm run proof` others. */
for (const { numRuns, options } of [
  { numRuns: 10, options: {} },
  { numRuns: 90, options: { tags: ["proof"] } },
])
  describe(`drawn ${numRuns} times and more`, options, () => {
    test.prop([calls, habits, style], { numRuns: 4 * numRuns })(
      "calls that are written in any habit are the calls of the canonical form",
      (made, habit, json) => {
        const canonical = parsePlan({ steps: made }, { tools });
        if (!canonical.ok) throw new TypeError("no plan", { cause: canonical.diagnostics });
        const answer = printJson(writeCalls(made, habit), json);
        const found = read(answer);
        expect({ answer, errors: found.ok ? [] : found.diagnostics }).toEqual({ answer, errors: [] });
        expect(found.ok && callsOf(found.plan.steps)).toEqual(callsOf(canonical.plan.steps));
      },
    );

    test.prop([calls, habits, style, one(CHOICES.effect)], { numRuns: 2 * numRuns })(
      "calls of which a field says something else are refused, in any habit",
      (made, habit, json, effect) => {
        const found = read(printJson(writeCalls(made, { ...habit, effect }), json));
        expect(found.diagnostics.map(({ code }) => code)).toContain("FIELD_UNKNOWN");
        expect(found.ok).toBe(false);
      },
    );

    test.prop(
      [calls, habits, one(["// ...\n", "/* … */", "# ... and so on\n", "/* remaining steps */", "...", "…"])],
      {
        numRuns: 2 * numRuns,
      },
    )("an answer with an ellipsis outside of its texts is refused, in any habit", (made, habit, ellipsis) => {
      const whole = printJson(writeCalls(made, habit), {});
      const at = whole.lastIndexOf("]") === whole.length - 1 ? whole.length - 1 : whole.lastIndexOf("}");
      const found = read(`${whole.slice(0, at)}, ${ellipsis} ${whole.slice(at)}`);
      expect(found.ok).toBe(false);
    });
  });
