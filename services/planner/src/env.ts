import { createDrafter, type Drafter, ModelSettingsSchema } from "@planwright/models";
import { createOfflineDrafter } from "@planwright/offline";
import { parseRoleSettings, type RoleOptions, WORKER_SETTINGS } from "@planwright/runtime";
import { z } from "zod";
import { readPrices } from "./calls/read-prices.ts";

/** Settings of the planner; the README lists them with units and defaults. */
export const PlannerSettingsSchema = z.object({
  ...ModelSettingsSchema.shape,
  ...WORKER_SETTINGS,
  HEALTH_PORT: z.coerce.number().int().min(0).max(65_535).default(4011),
  /** JSON file with prices of models, which override the table of `@planwright/models`. */
  MODEL_PRICES_FILE: z.string().min(1).max(4_096).optional(),
  /** Requests that one process plans at once. */
  MAX_REQUESTS: z.coerce.number().int().min(1).max(1_000).default(16),
  /** Model calls of one tenant within an hour; planning waits beyond that. */
  MAX_MODEL_CALLS_PER_HOUR: z.coerce.number().int().min(1).max(1_000_000).default(5_000),
  /**
   * For plans made from sentences: whether side effects that a replan adds or changes need an operator's
   * approval, or run at once.
   */
  REPLANNED_EFFECTS: z.enum(["approve", "run"]).default("approve"),
  /** How long a request waits for a model that is away, in milliseconds. */
  MODEL_UNREACHABLE_MS: z.coerce.number().int().min(0).max(86_400_000).default(600_000),
  /** How long a request waits for an executor to publish the first tools, in milliseconds. */
  CATALOGUE_WAIT_MS: z.coerce.number().int().min(0).max(3_600_000).default(60_000),
});

/** Settings of the planner, and what they name. */
export interface PlannerSettings extends z.infer<typeof PlannerSettingsSchema> {
  drafter: Drafter;
  prices: Awaited<ReturnType<typeof readPrices>>;
}

/**
 * Reads the settings, makes the drafter that MODEL names, and reads the file of prices.
 * @throws {CodedError} that names the setting
 */
export async function readPlannerSettings(
  env: NodeJS.ProcessEnv,
  options: RoleOptions = {},
): Promise<PlannerSettings> {
  const settings = parseRoleSettings(PlannerSettingsSchema, env, options);
  const drafter = createDrafter(settings, createOfflineDrafter);
  return { ...settings, drafter, prices: await readPrices(settings) };
}
