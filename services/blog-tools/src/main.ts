import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { openBlogDatabase } from "./database.ts";
import { SettingsSchema } from "./env.ts";
import { startHttpServer } from "./http-server.ts";
import { createBlogServer } from "./mcp-server.ts";

const settings = SettingsSchema.parse(process.env);
const log = (record: object) => process.stderr.write(`${JSON.stringify(record)}\n`);
const onError = (error: unknown, tool: string) =>
  log({ level: "error", tool, message: error instanceof Error ? error.message : String(error) });

const database = await openBlogDatabase(settings.MONGODB_URL);
const server = process.argv.includes("--stdio")
  ? serveStdio(() => createBlogServer({ database, onError }))
  : await startHttpServer({
      database,
      onError,
      host: settings.HOST,
      port: settings.PORT,
      allowedHosts: settings.ALLOWED_HOSTS,
    });
log({ level: "info", message: "url" in server ? `listening at ${server.url}` : "serving on stdio" });

const stop = async () => {
  await server.close();
  await database.close();
};
process.once("SIGTERM", () => void stop());
process.once("SIGINT", () => void stop());
