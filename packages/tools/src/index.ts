export { type Clearance, IDEMPOTENCY_KEY_META, type ToolCall } from "./calls/call-tool.ts";
export { readLargeAnswer, sentOutput } from "./calls/read-large-answer.ts";
export {
  createToolClients,
  type Reload,
  type ServerCatalogue,
  type ToolClients,
  type ToolClientsOptions,
  type ToolLogger,
} from "./calls/tool-clients.ts";
export type { Variables } from "./config/load-servers-file.ts";
export {
  type HttpServerConfig,
  loadServersFile,
  parseServers,
  type SecretGrant,
  type ServerConfig,
  ServerConfigSchema,
  type ServersConfig,
  type ServersConfigInput,
  ServersConfigSchema,
  ServersFileError,
  type StdioServerConfig,
  signedServers,
} from "./config/load-servers-file.ts";
export { ServerUnreachableError } from "./connection/errors.ts";
export type { AddressGuard } from "./connection/http-fetch.ts";
export {
  completedOfSent,
  type LargeAnswer,
  type ReadLargeAnswer,
  type ReceivedAnswer,
  type SentOutput,
} from "./connection/large-answer.ts";
export type { ServerStatus } from "./connection/server-connection.ts";
export type { SignIn, SignInAnswer, SignIns } from "./connection/sign-in.ts";
export { createMasker, type Masker } from "./masker.ts";
