import { commandLine } from "@planwright/client";
import { useLocation } from "wouter";
import type { ApiProblem } from "../data/api-problem.ts";
import { CANCEL, EXECUTE_PLAN, PAUSE, REPLAN, RERUN, RESUME } from "../data/control-operations.ts";
import { type RequestFacts } from "../data/request-facts.ts";
import { READ_REQUEST } from "../data/request-operations.ts";
import { type Action, useAction } from "../data/use-action.ts";
import { useRead } from "../data/use-read.ts";
import { deskPath, deskPlaceOf } from "../parts/desk-path.ts";
import { placeOf, requestPath, VIEWS } from "../request/paths.ts";
import { acceptedRepeats } from "../request/use-next-actions.ts";
import type { Command } from "./commands.ts";

const GROUP = "This request";

/** The commands for the request that the page shows. */
export interface RequestCommands {
  /** Empty on other pages. Actions are added when the request has been read. */
  commands: Command[];
  /** Why the last command was refused. */
  problem: ApiProblem | null;
}

/** Commands for the request that the page shows. */
export function useRequestCommands(): RequestCommands {
  const [path, navigate] = useLocation();
  const requestId = placeOf(path)?.requestId ?? deskPlaceOf(path) ?? null;
  const { data } = useRead(READ_REQUEST, requestId === null ? null : { requestId });
  const { actions, problem } = useActions();
  const request = data?.request;
  if (requestId === null) return { commands: [], problem };
  const toView = (view: (typeof VIEWS)[number], stepId: string | null = null) =>
    navigate(requestPath({ requestId, version: null, stepId, view }));
  const doubtful = request?.plan?.steps.filter(({ status }) => status === "FAILED" || status === "IN_DOUBT");
  const commands: Command[] = [
    ...(request ? actions(request) : []),
    ...(doubtful ?? []).slice(0, 10).map(({ key, id }) => ({
      id: `step ${key}`,
      label: `Show step ${key}`,
      group: GROUP,
      run: () => toView("graph", id),
    })),
    ...VIEWS.map((view) => ({
      id: `view ${view}`,
      label: `Show ${view}`,
      group: GROUP,
      run: () => toView(view),
    })),
    {
      id: "amend",
      label: "Open the plan at the desk",
      group: GROUP,
      run: () => navigate(deskPath(requestId)),
    },
    {
      id: "copy id",
      label: "Copy the request id",
      group: GROUP,
      run: () => navigator.clipboard.writeText(requestId),
    },
    {
      id: "copy debug",
      label: "Copy the command that debugs it",
      group: GROUP,
      run: () => navigator.clipboard.writeText(commandLine("planwright", "debug", requestId)),
    },
  ];
  return { commands, problem };
}

/** The actions that are possible in the state of a request; its diagnosis names the useful ones. */
function useActions() {
  const cancel = useAction(CANCEL);
  const pause = useAction(PAUSE);
  const resume = useAction(RESUME);
  const execute = useAction(EXECUTE_PLAN);
  const rerun = useAction(RERUN);
  const replan = useAction(REPLAN);
  const used: Action<unknown, never>[] = [cancel, pause, resume, execute, rerun, replan];
  const problem = used.find((action) => action.problem)?.problem ?? null;
  function actions({ requestId, version, status, plan, diagnosis }: RequestFacts): Command[] {
    const newVersion = { requestId, fromVersion: version, idempotencyKey: crypto.randomUUID() };
    const helps = new Set(diagnosis.next.map(({ operation }) => operation));
    const suggested = diagnosis.next.find(({ operation }) => operation === "rerun");
    const acceptRepeat = acceptedRepeats(suggested?.arguments);
    const isRunning = status === "EXECUTING" && plan?.status !== "CANCELLING";
    const canCancel = isRunning || status === "PLANNING" || plan?.status === "READY";
    const all: readonly [boolean, string, () => unknown][] = [
      [
        helps.has("rerun"),
        acceptRepeat.length === 0
          ? "Run again what did not complete"
          : `Call ${acceptRepeat.join(", ")} once more, and run what did not complete`,
        () => rerun.run({ ...newVersion, acceptRepeat }),
      ],
      [helps.has("replan"), "Have the rest planned again", () => replan.run(newVersion)],
      [helps.has("resume"), "Resume", () => resume.run({ requestId })],
      [plan?.status === "READY", "Execute the plan", () => plan && execute.run({ planId: plan.planId })],
      [isRunning && plan?.status !== "PAUSED", "Pause", () => pause.run({ requestId })],
      [canCancel, "Cancel", () => cancel.run({ requestId })],
    ];
    return all.flatMap(([isOffered, label, run]) =>
      isOffered ? [{ id: label, label, group: GROUP, isAction: true, run }] : [],
    );
  }
  return { actions, problem };
}
