export { type BlogDatabase, openBlogDatabase } from "./database.ts";
export { type HttpServer, type HttpServerOptions, startHttpServer } from "./http-server.ts";
export { type BlogServerOptions, createBlogServer } from "./mcp-server.ts";
export { IDEMPOTENCY_KEY_META } from "./once.ts";
