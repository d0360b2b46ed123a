export { type Clearance, IDEMPOTENCY_KEY_META, type ToolCall } from "./call-tool.ts";
export { ServersFileError, ServerUnreachableError } from "./errors.ts";
export type { Variables } from "./expand-variables.ts";
export type { AddressGuard } from "./http-fetch.ts";
export { loadServersFile, parseServers } from "./load-servers-file.ts";
export { createMasker, type Masker } from "./masking/masker.ts";
export {
  type HttpServerConfig,
  type SecretGrant,
  type ServerConfig,
  ServerConfigSchema,
  type ServersConfig,
  type ServersConfigInput,
  ServersConfigSchema,
  type StdioServerConfig,
} from "./server-config.ts";
export type { ServerStatus } from "./server-connection.ts";
export {
  createToolClients,
  type ServerCatalogue,
  type ToolClients,
  type ToolClientsOptions,
  type ToolLogger,
} from "./tool-clients.ts";
