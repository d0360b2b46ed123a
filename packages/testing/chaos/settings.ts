import { parseArgs } from "node:util";
import { z } from "zod";

const whole = z.coerce.number().int();
const SettingsSchema = z.object({
  plans: whole.min(1).max(100_000),
  faults: whole.min(0).max(10_000),
  seed: whole.min(0).max(4_294_967_295),
  json: z.boolean(),
  keep: z.boolean(),
});

/** What a run is asked to do. */
export type Settings = z.output<typeof SettingsSchema> & {
  /** Plans are handed in and faults begin within this time, in milliseconds. */
  withinMs: number;
  /** Lease of plans and requests, in milliseconds. */
  leaseMs: number;
  /** Longest a plan may take, in milliseconds. */
  planTimeoutMs: number;
};

/** Time that one fault and one plan take up in a run, in milliseconds. */
const FAULT_EVERY_MS = 2_500;
const PLAN_EVERY_MS = 350;

/** Reads the command line. @throws {z.ZodError | TypeError} what is wrong with it */
export function readSettings(args: readonly string[]): Settings {
  const { values } = parseArgs({
    args: [...args],
    options: {
      plans: { type: "string", default: "200" },
      faults: { type: "string", default: "30" },
      seed: { type: "string", default: "7" },
      json: { type: "boolean", default: false },
      keep: { type: "boolean", default: false },
    },
  });
  const settings = SettingsSchema.parse(values);
  const withinMs = Math.max(settings.faults * FAULT_EVERY_MS, settings.plans * PLAN_EVERY_MS);
  return { ...settings, withinMs, leaseMs: 2_000, planTimeoutMs: 90_000 };
}
