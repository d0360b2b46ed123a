import { createClient, graphql } from "@planwright/client";
import { approve, ask, doubt, expectInSight, type Problem, pay, press, RERUN, read, settle } from "./acts.ts";

const AMEND = graphql(`
  mutation ($requestId: ID!, $plan: JSON!) { amendPlan(requestId: $requestId, plan: $plan) { carried } }
`);

/** Requests that wait for a person, or that a person stopped. */
export const DECISIONS: readonly Problem[] = [
  {
    name: "a call waits for an approval",
    steps: [ask()],
    planted: "EXECUTING",
    cause: "step ask (keyed_effect) waits for an approval",
    action: "Look at the call and decide",
    act: approve,
    end: ["COMPLETED", 1],
  },
  {
    name: "two calls wait for approvals",
    steps: [ask("first"), { ...ask("second"), dependsOn: ["first"] }],
    planted: "EXECUTING",
    cause: "step first (keyed_effect) waits for an approval",
    action: "Look at the call and decide",
    async act(page) {
      await approve(page);
      await expectInSight(page, "step second (keyed_effect) waits for an approval");
      await approve(page);
    },
    end: ["COMPLETED", 1],
  },
  {
    name: "an approval was refused",
    steps: [ask()],
    planted: "EXECUTING",
    cause: "step ask (keyed_effect) waits for an approval",
    action: "Look at the call and decide",
    async act(page) {
      await press(page, "Look at the call and decide");
      await press(page, "Refuse: the step fails");
      await expectInSight(page, "(APPROVAL_REFUSED)");
      await press(page, RERUN);
      await expectInSight(page, "waits for an approval");
      // The call is shown already: the head has no button for it.
      await press(page, "Approve: the tool is called");
    },
    end: ["COMPLETED", 2],
  },
  {
    name: "it is not known whether a call happened: it did",
    script: doubt,
    steps: [pay],
    planted: "EXECUTING",
    cause: "it is not known whether the call of step pay (plain_effect) happened (IN_DOUBT)",
    action: "Look at the call and say what happened",
    act: settle("It happened: continue with this output", { output: '{"value":7}' }),
    end: ["COMPLETED", 1],
  },
  {
    name: "it is not known whether a call happened: it did not",
    script: doubt,
    steps: [pay],
    planted: "EXECUTING",
    cause: "(IN_DOUBT)",
    action: "Look at the call and say what happened",
    act: settle("It did not: call it again"),
    end: ["COMPLETED", 1],
  },
  {
    name: "it is not known whether a call happened: it shall not",
    script: doubt,
    steps: [pay],
    planted: "EXECUTING",
    cause: "(IN_DOUBT)",
    action: "Look at the call and say what happened",
    act: settle("It did not: let the step fail", { reason: "the bank never saw it" }),
    end: ["FAILED", 1],
  },
  {
    name: "the plan was not started",
    steps: [read(1)],
    execute: false,
    planted: "READY",
    cause: "the plan is stored and was not started",
    action: "Execute the plan",
    act: (page) => press(page, "Execute the plan"),
    end: ["COMPLETED", 1],
  },
  {
    name: "the plan was cancelled",
    steps: [ask(), read("<<ask>>")],
    planted: "EXECUTING",
    cause: "waits for an approval",
    action: "Cancel",
    async act(page) {
      await press(page, "Cancel");
      await press(page, "Cancel the request");
      await expectInSight(page, "the plan was cancelled");
      await press(page, RERUN);
      await expectInSight(page, "waits for an approval");
      await approve(page);
    },
    end: ["COMPLETED", 2],
  },
  {
    name: "the plan was paused",
    steps: [ask(), read("<<ask>>")],
    planted: "EXECUTING",
    cause: "waits for an approval",
    action: "Pause",
    async act(page) {
      await press(page, "Pause");
      await expectInSight(page, "the plan was paused");
      await press(page, "Resume");
      await expectInSight(page, "waits for an approval");
      await approve(page);
    },
    end: ["COMPLETED", 1],
  },
  {
    name: "the plan is amended while it is looked at",
    steps: [read(1)],
    execute: false,
    planted: "READY",
    cause: "the plan is stored and was not started",
    action: "Execute the plan",
    async act(page, requestId, apiUrl) {
      const plan = { steps: [read(2)] } as never;
      await createClient({ url: apiUrl }).execute(AMEND, { requestId, plan });
      await page.getByLabel("version").waitFor();
      await press(page, "Execute the plan");
    },
    end: ["COMPLETED", 2],
  },
];
