import { HostNameSchema, MongodbUrlSchema } from "@planwright/runtime";
import { z } from "zod";

/** Settings of this service, by the names of their environment variables; the README lists them. */
export const SettingsSchema = z.object({
  MONGODB_URL: MongodbUrlSchema,
  HOST: z.string().min(1).default("127.0.0.1"),
  PORT: z.coerce.number().int().min(0).max(65_535).default(4020),
  /** Host names under which clients reach this server, beside localhost and HOST; separated by commas. */
  ALLOWED_HOSTS: z
    .string()
    .default("")
    .transform((text) => text.split(",").flatMap((name) => name.trim() || []))
    .pipe(z.array(HostNameSchema).max(100)),
  LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal"]).default("info"),
});
export type Settings = z.output<typeof SettingsSchema>;
