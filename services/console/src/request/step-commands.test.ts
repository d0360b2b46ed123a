import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { cliCommand, curlCommand } from "./inspector.tsx";

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

test.each(["it's", "$(reboot)", "a b\nreboot", '`x` \\ "y"', "\u202e\u0003"])(
  "%j in every id of a step is a word of its commands, and nothing of it is executed",
  (text) => {
    const statuses = ["WAITING_APPROVAL", "IN_DOUBT", "COMPLETED", "FAILED", "PENDING"] as const;
    const commands = statuses.map((status) =>
      cliCommand(text, text, { id: text, key: text, status, approvalHash: text }),
    );
    for (const command of [...commands, curlCommand("http://127.0.0.1:4000/graphql", text, text)]) {
      const program = 'planwright() { printf \'%s|\' "$@"; }; curl() { planwright "$@"; };';
      const env = { ...process.env, LC_ALL: "C.UTF-8" };
      const read = execFileSync("bash", ["-c", `${program} ${command}`], { encoding: "utf8", env });
      expect(read).toContain(command.startsWith("curl") ? JSON.stringify(text) : text);
      expect(command).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    }
  },
);

test("the curl command contains no API key", () => {
  const command = curlCommand("http://127.0.0.1:4000/graphql", "plan_1_a", "pay");
  expect(command).toContain('-H "authorization: Bearer $PLANWRIGHT_API_KEY"');
  expect(command).toContain('"variables":{"planId":"plan_1_a","stepId":"pay"}');
});
