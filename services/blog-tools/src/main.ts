import { createLogger, createShutdown, settingsOrExit } from "@planwright/runtime";
import { serveStdio } from "@planwright/tool-kit";
import { allTools } from "./all-tools.ts";
import { SettingsSchema } from "./env.ts";
import { describeServer, startHttpServer } from "./http-server.ts";
import { openBlogDatabase } from "./open-blog-database.ts";

const settings = settingsOrExit(SettingsSchema, process);
const isStdio = process.argv.includes("--stdio");
const logger = createLogger({
  service: "blog-tools",
  level: settings.LOG_LEVEL,
  // Over stdio the standard output belongs to the protocol.
  ...(isStdio ? { destination: { write: (line) => void process.stderr.write(line) } } : {}),
});
const shutdown = createShutdown({ logger, timeoutMs: 20_000 });
const database = await openBlogDatabase(settings.MONGODB_URL);
const onError = (error: unknown, tool: string) => logger.error({ err: error, tool }, "a tool failed");

if (isStdio) {
  process.stdin.once("end", () => void shutdown.run("standard input ended"));
  const server = serveStdio(allTools(database), describeServer(onError));
  shutdown.add("server", () => server.close());
} else {
  const server = await startHttpServer({
    database,
    onError,
    host: settings.HOST,
    port: settings.PORT,
    allowedHosts: settings.ALLOWED_HOSTS,
    stopping: shutdown.signal,
  });
  shutdown.add("server", () => server.close());
  logger.info({ url: server.url }, "blog-tools ready");
}
shutdown.add("database", () => database.close());
