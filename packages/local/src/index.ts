export { type Child, type ChildOptions, startChild } from "./children/child.ts";
export { freePort } from "./children/free-port.ts";
export {
  growingDelayMs,
  type ManagedProcess,
  type SuperviseOptions,
  type Supervision,
  supervise,
  type UnexpectedEnd,
} from "./children/supervise.ts";
export {
  ChecksumError,
  DataFolderError,
  ProcessNotReadyError,
  ServerNotAvailableError,
  ServerNotSuitableError,
} from "./errors.ts";
export type { LocalServer, ServerOptions } from "./local-server.ts";
export { startMongo } from "./mongo/start-mongo.ts";
export { startRedis } from "./redis/start-redis.ts";
export { apiPortOf, WrongSettingsError } from "./stack/check-settings.ts";
export { holdFolder } from "./stack/hold-folder.ts";
export { NotBuiltError, type ServiceName } from "./stack/start-service.ts";
export { type ProcessName, type Stack, type StackOptions, startStack } from "./stack/start-stack.ts";
export { watchServerFiles } from "./stack/watch-server-files.ts";
