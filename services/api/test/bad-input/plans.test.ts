/** Plans and references that cannot run: they are stored with their diagnostics and never queued. */
import type { JsonObject } from "@planwright/plan";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { expectClean, expectReadable, firstOfEach, readCases, SaysSchema } from "./refusals.ts";
import { type RunningSystem, startRunningSystem } from "./running-system.ts";

const file = readCases(
  "plans.json",
  z.strictObject({
    /** Tools of other servers, in addition to the usual ones. */
    tools: z.array(z.looseObject({ name: z.string(), inputSchema: z.record(z.string(), z.json()) })),
    plans: z.array(z.strictObject({ ...SaysSchema, plan: z.json() })),
    /** Each is an argument of the second of two steps; the first step is createAuthor. */
    references: z.array(z.strictObject({ ...SaysSchema, value: z.json() })),
    /** Harmless input that looks wrong, with the resulting arguments of the last step. */
    accepted: z.array(
      z.strictObject({ name: z.string(), plan: z.json(), arguments: z.record(z.string(), z.json()) }),
    ),
  }),
);
const plans = [
  ...file.plans,
  ...file.references.map(({ name, value, ...expected }) => ({
    name: `a reference: ${name}`,
    plan: {
      steps: [
        { id: "author", tool: "createAuthor", arguments: { name: "A", email: "a@test.com" } },
        {
          id: "blog",
          tool: "createBlog",
          arguments: { title: "t", content: "c", authorId: value },
          dependsOn: ["author"],
        },
      ],
    },
    ...expected,
  })),
];

let running: RunningSystem;
beforeAll(async () => {
  running = await startRunningSystem("plans.json");
  await running.store.publishTools(
    "strange",
    file.tools.map(({ name, inputSchema }) => ({
      descriptor: { name, server: "strange", inputSchema: inputSchema as JsonObject },
      digest: name,
    })),
  );
});
afterAll(() => running.close());

const send = (query: string, variables: object) => running.post("/graphql", { query, variables });

describe("plans", () => {
  afterAll(() => running.expectWorking());
  for (const { cases: some, options } of firstOfEach(plans))
    test.each(some)("$name: $code", options, async ({ name, plan, code, says }) => {
      const submit = () => send("mutation ($plan: JSON!) { submitPlan(plan: $plan) { id } }", { plan });
      const answer = await running.play(name, submit, "an ended request");
      expectClean(answer.text);
      const [error] = answer.body.errors;
      expect(error).toMatchObject({
        path: ["submitPlan"],
        extensions: { code: "PLAN_INVALID", retryable: false },
      });
      expectReadable(error.message, error.extensions.remedy);
      const { diagnostics, requestId } = error.extensions;
      const matching = diagnostics.filter((one: { code: string }) => one.code === code);
      expect(diagnostics).toContainEqual(expect.objectContaining({ code }));
      for (const { message } of diagnostics) expectReadable(message, message);
      if (says) expect(matching.map(({ message }: { message: string }) => message).join("\n")).toMatch(says);
      const stored = await send(
        "query ($id: ID!) { request(requestId: $id) { status error { code } plan { status waitReason document raw } } }",
        { id: requestId },
      );
      expect(stored.body.data.request).toMatchObject({
        status: "FAILED",
        error: { code: "PLAN_INVALID" },
        plan: { status: "INVALID", waitReason: null },
      });
      for (const field of ["executePlan", "executeByRequestId"]) {
        const again = await send(`mutation ($id: ID!) { ${field}(requestId: $id) { id } }`, {
          id: requestId,
        });
        expect(again.body.errors[0].extensions.code).toBe("PLAN_INVALID");
      }
    });
});

describe("harmless input that looks wrong", () => {
  afterAll(() => running.expectWorking());
  test.each(file.accepted)("$name", async ({ name, plan, arguments: expected }) => {
    const query = "query ($plan: JSON!) { validatePlan(plan: $plan) { valid plan } }";
    const answer = await running.play(name, () => send(query, { plan }));
    const { validatePlan } = answer.body.data;
    expect(validatePlan.plan.steps.at(-1).arguments).toEqual(expected);
  });
});
