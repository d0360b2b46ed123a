import { parseArgs } from "node:util";
import { z } from "zod";

const SettingsSchema = z.object({
  clients: z.coerce.number().int().min(1).max(10_000),
  plans: z.coerce.number().int().min(1).max(10_000),
  subscribers: z.coerce.number().int().min(1).max(10_000),
  events: z.coerce.number().int().min(1).max(1_000),
  seconds: z.coerce.number().int().min(1).max(600),
  submissions: z.coerce.number().int().min(1).max(100_000),
  /** Names of measurements; all when empty. */
  only: z.array(z.string()),
  json: z.boolean(),
});
/** What a run is asked to do. */
export type Settings = z.infer<typeof SettingsSchema>;

/** Reads the command line. @throws {TypeError | z.ZodError} what is wrong with it */
export function readSettings(args: readonly string[]): Settings {
  const { values } = parseArgs({
    args: [...args],
    options: {
      clients: { type: "string", default: "1000" },
      plans: { type: "string", default: "200" },
      subscribers: { type: "string", default: "1000" },
      events: { type: "string", default: "50" },
      seconds: { type: "string", default: "10" },
      submissions: { type: "string", default: "1000" },
      only: { type: "string", multiple: true, default: [] },
      json: { type: "boolean", default: false },
    },
  });
  return SettingsSchema.parse(values);
}
