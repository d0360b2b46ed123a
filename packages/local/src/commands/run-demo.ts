import { randomUUID } from "node:crypto";
import {
  commandLine,
  createClient,
  graphql,
  PLAN_RUN,
  REQUEST_RUN,
  type RequestRun,
  type ResultOf,
  STEP_RUN,
  STEP_VALUES,
  type StepRun,
  type StepValues,
  stepTree,
} from "@planwright/client";
import { beginningOfText } from "@planwright/plan";
import { API_PORT } from "../start-service.ts";
import { persistently, type Stack } from "../start-stack.ts";

/** The address of the API and the key for it. */
export type ApiAddress = Pick<Stack, "apiUrl" | "apiKey">;

const CREATE = graphql(`mutation ($query: String!, $key: String!) {
  createPlan(query: $query, idempotencyKey: $key) { requestId }
}`);
const READ = graphql(
  `query ($requestId: ID!) {
    request(requestId: $requestId) { ...RequestRun plan { ...PlanRun steps { ...StepRun ...StepValues } } }
  }`,
  [REQUEST_RUN, PLAN_RUN, STEP_RUN, STEP_VALUES],
);
type EndedRequest = NonNullable<ResultOf<typeof READ>["request"]>;

/**
 * A sentence that creates an author and a blog by her.
 * @param number - makes the e-mail address unique: it can belong to one author only
 */
export function exampleSentence(number: number): string {
  return `Create author Alice with email alice-${number}@test.com, then create blog by Alice titled Hello about world`;
}

/** True for the address that `planwright` uses without a setting. */
export function isDefaultAddress(apiUrl: string): boolean {
  return new URL(apiUrl).port === String(API_PORT);
}

/** A command of `planwright` that works in any shell: it has the address unless that is the default. */
export function planwrightCommand(apiUrl: string, ...words: string[]): string {
  return `npx ${commandLine("planwright", ...words, ...(isDefaultAddress(apiUrl) ? [] : ["--url", apiUrl]))}`;
}

/** Sends a sentence, again if the answer is lost; it becomes one request. Returns the id of the request. */
export async function sendSentence({ apiUrl, apiKey }: ApiAddress, sentence: string): Promise<string> {
  const client = createClient({ url: apiUrl, token: apiKey });
  const variables = { query: sentence, key: randomUUID() };
  return (await persistently(() => client.execute(CREATE, variables))).createPlan.requestId;
}

/**
 * Follows a request until it has ended or waits for a person, and reads it. @param onChange - gets each state
 */
export async function followToEnd(
  { apiUrl, apiKey }: ApiAddress,
  requestId: string,
  onChange: (request: RequestRun) => void,
): Promise<EndedRequest> {
  const client = createClient({ url: apiUrl, token: apiKey });
  for await (const request of client.follow(requestId, { wasAccepted: true })) onChange(request);
  return persistently(() => client.readRequest(READ, requestId));
}

/**
 * Sends one sentence, prints its progress, and prints the finished plan.
 * @param shownUrl - address for the commands that it prints
 * @returns whether the plan is COMPLETED, and the id under which everything about it is recorded
 */
export async function runDemo(
  api: ApiAddress,
  sentence: string,
  { say, shownUrl }: { say: (line: string) => void; shownUrl: string },
): Promise<{ isCompleted: boolean; requestId: string }> {
  say(`You ask:   ${sentence}`);
  const requestId = await sendSentence(api, sentence);
  say(`Request:   ${requestId}`);
  let last = "";
  const request = await followToEnd(api, requestId, (now) => {
    const line = progressOf(now);
    if (line !== last) say(line);
    last = line;
  });
  for (const line of resultOf(request, shownUrl)) say(line);
  return { isCompleted: request.status === "COMPLETED", requestId };
}

function progressOf({ status, plan }: RequestRun): string {
  if (!plan || plan.status === "INVALID") return "Planning:  making a plan from the sentence ...";
  const done = plan.steps.filter((step) => step.status === "COMPLETED").length;
  const running = plan.steps.filter((step) => step.status === "RUNNING").map((step) => step.id);
  const now = status === "EXECUTING" && running.length > 0 ? `, now ${running.join(" and ")}` : "";
  return `Executing: ${done} of ${plan.steps.length} steps completed${now}`;
}

/** The plan or why there is none, and what to do next, as lines that are safe for a terminal. */
export function resultOf(request: EndedRequest, shownUrl: string): string[] {
  const { plan, error, questions, diagnostics } = request;
  const lines = [""];
  if (plan && plan.steps.length > 0) {
    const by = plan.origin.model ?? plan.origin.kind;
    const duration = plan.durationMs === null ? "" : ` in ${Math.round(plan.durationMs)} ms`;
    lines.push(`${request.planId}  ${plan.status}${duration}, planned by ${by}`, ...planTree(plan.steps));
  }
  if (plan?.error) lines.push("", `The plan failed: ${oneLine(plan.error.message)}`);
  if (error) lines.push(`No plan was made (${error.code}): ${oneLine(error.message)}`);
  for (const question of questions) lines.push(`The planner asks: ${oneLine(question)}`);
  if (questions.length > 0)
    lines.push(`Answer with: ${planwrightCommand(shownUrl, "answer", request.requestId)}`);
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  if (request.status !== "COMPLETED") lines.push(...errors.map(({ message }) => `- ${oneLine(message)}`));
  lines.push("");
  return lines;
}

/** One step as the demo shows it. */
export type DemoStep = Pick<
  StepRun & StepValues,
  | "id"
  | "tool"
  | "status"
  | "dependsOn"
  | "arguments"
  | "resolvedArguments"
  | "output"
  | "error"
  | "durationMs"
>;

const WIDTH = 200;

/**
 * Lines of a small tree: each step once, below the dependency that comes last in the plan, with status,
 * duration, the arguments that were sent, and the output or the error.
 */
export function planTree(steps: readonly DemoStep[]): string[] {
  return stepTree(steps).flatMap(({ step, branch, below }) => [
    `${branch}${titleOf(step)}`,
    ...detailsOf(step).map((line) => `${below}  ${line}`),
  ]);
}

function titleOf(step: DemoStep): string {
  const name = step.id === step.tool ? step.id : `${step.id} (${step.tool})`;
  const duration = step.durationMs === null ? "" : `  ${Math.round(step.durationMs)} ms`;
  return `${name}  ${step.status}${duration}`;
}

function detailsOf(step: DemoStep): string[] {
  const lines: string[] = [];
  const planned = JSON.stringify(step.arguments);
  const sent = JSON.stringify(step.resolvedArguments);
  if (step.resolvedArguments === null || planned !== sent) lines.push(`planned    ${cut(planned)}`);
  if (step.resolvedArguments !== null) lines.push(`arguments  ${cut(sent)}`);
  if (step.output !== null) lines.push(`output     ${cut(JSON.stringify(step.output))}`);
  if (step.error) lines.push(`error      ${cut(step.error.message)}`);
  return lines;
}

/** One line, safe for a terminal: tools and models may answer with escape sequences. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ");
}

function cut(text: string): string {
  return beginningOfText(oneLine(text), WIDTH);
}
