import type { JsonValue } from "@planwright/plan";
import { createMasker } from "@planwright/tools";

const SECRETS = 50;
const ROUNDS = 100;

/**
 * Microseconds of CPU for masking 50 secrets, per KiB of output (its JSON text), for records and for text.
 */
export function maskingCost(): { recordsMicrosecondsPerKiB: number; textMicrosecondsPerKiB: number } {
  const values = Array.from(
    { length: SECRETS },
    (_, index) => `sk-${index}-${"x9f8e7d6c5b4a3f2e1".repeat(2)}`,
  );
  const masker = createMasker(values);
  const records = Array.from({ length: 200 }, (_, index) => ({
    id: index,
    title: `Record ${index} of those that were found`,
    owner: { name: "Kim Park", email: "kim@mail.test" },
    labels: ["open", "late"],
    closedAt: "2026-11-25T08:52:11Z",
  }));
  const text = JSON.stringify(records);
  const cost = (output: JsonValue): number => {
    const kib = JSON.stringify(output).length / 1_024;
    const before = process.cpuUsage();
    for (let round = 0; round < ROUNDS; round += 1) masker.json(output);
    const { user, system } = process.cpuUsage(before);
    return Math.round(((user + system) / ROUNDS / kib) * 100) / 100;
  };
  return { recordsMicrosecondsPerKiB: cost(records), textMicrosecondsPerKiB: cost(text) };
}
