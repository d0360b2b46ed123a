import { type ApiAddress, type FollowedRequest, followRequest, sendSentence } from "./follow-request.ts";
import { planTree } from "./plan-tree.ts";

/** An author and a blog of hers. @param number - makes the address her own: an e-mail address belongs to one author */
export function exampleSentence(number: number): string {
  return `Create author Alice with email alice-${number}@test.com, then create blog by Alice titled Hello about world`;
}

/**
 * Sends one sentence through GraphQL, tells how it goes, and shows the finished plan.
 * @returns whether the plan is COMPLETED, and the id under which everything about it is recorded
 */
export async function runDemo(
  api: ApiAddress,
  sentence: string,
  say: (line: string) => void,
): Promise<{ isCompleted: boolean; requestId: string }> {
  say(`You ask:   ${sentence}`);
  const requestId = await sendSentence(api, sentence);
  say(`Request:   ${requestId}`);
  let last = "";
  const request = await followRequest(api, requestId, (now) => {
    const line = progressOf(now);
    if (line !== last) say(line);
    last = line;
  });
  for (const line of resultOf(request)) say(line);
  return { isCompleted: request.status === "COMPLETED", requestId };
}

function progressOf({ status, plan }: FollowedRequest): string {
  if (!plan || plan.status === "INVALID") return "Planning:  the sentence is becoming a plan ...";
  const done = plan.steps.filter((step) => step.status === "COMPLETED").length;
  const running = plan.steps.filter((step) => step.status === "RUNNING").map((step) => step.id);
  const now = status === "EXECUTING" && running.length > 0 ? `, now ${running.join(" and ")}` : "";
  return `Executing: ${done} of ${plan.steps.length} steps completed${now}`;
}

function resultOf(request: FollowedRequest): string[] {
  const { plan, error, questions, diagnostics } = request;
  const lines = [""];
  if (plan && plan.steps.length > 0) {
    const by = plan.origin.model ?? plan.origin.kind;
    const duration = plan.durationMs === null ? "" : ` in ${Math.round(plan.durationMs)} ms`;
    lines.push(`${request.planId}  ${plan.status}${duration}, planned by ${by}`, ...planTree(plan.steps));
  }
  if (plan?.error) lines.push("", `The plan failed: ${plan.error.message}`);
  if (error) lines.push(`No plan was made (${error.code}): ${error.message}`);
  for (const question of questions) lines.push(`The planner asks: ${question}`);
  if (questions.length > 0) lines.push(`Answer with: npx planwright answer ${request.requestId}`);
  const findings = diagnostics.filter((finding) => finding.severity === "error");
  if (request.status !== "COMPLETED") lines.push(...findings.map((finding) => `- ${finding.message}`));
  lines.push("");
  return lines;
}
