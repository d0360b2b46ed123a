import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { cliCommand, curlCommand, shellWord } from "./step-commands.ts";

const step = (status: string, key = "pay") => ({
  id: "pay",
  key,
  status: status as never,
  approvalHash: "3f2a",
});

test.each([
  ["WAITING_APPROVAL", "pay", "planwright approve req_1_a pay --hash 3f2a"],
  ["IN_DOUBT", "pay[2]", "planwright resolve req_1_a 'pay[2]' --retry"],
  ["COMPLETED", "pay[2]", "planwright output 'plan_1_a/steps/pay[2]'"],
  ["FAILED", "pay", "planwright retry req_1_a --from pay"],
  ["PENDING", "pay", "planwright debug req_1_a"],
])("for a step that is %s the command is the next action", (status, key, command) => {
  expect(cliCommand("req_1_a", "plan_1_a", step(status, key))).toBe(command);
});

test.each(["it's", "$(reboot)", "a b\nc", '`x` \\ "y"', ""])("a shell reads %j as one word", (text) => {
  const read = execFileSync("sh", ["-c", `printf '%s|' ${shellWord(text)}`], { encoding: "utf8" });
  expect(read).toBe(`${text}|`);
});

test("the curl command contains no API key", () => {
  const command = curlCommand("http://127.0.0.1:4000/graphql", "plan_1_a", "pay");
  expect(command).toContain('-H "authorization: Bearer $PLANWRIGHT_API_KEY"');
  expect(command).toContain('"variables":{"planId":"plan_1_a","stepId":"pay"}');
});
