export { checkMachine, type Found, type MachineOptions } from "./check-machine.ts";
export {
  type Child,
  type ChildOptions,
  growingDelayMs,
  type ManagedProcess,
  type SuperviseOptions,
  type Supervision,
  startChild,
  supervise,
  type UnexpectedEnd,
} from "./child.ts";
export { demo } from "./commands/demo.ts";
export { operate } from "./commands/operate.ts";
export { DATA_DIR } from "./commands/program.ts";
export { up } from "./commands/up.ts";
export { holdFolder } from "./data-folders.ts";
export {
  ChecksumError,
  DataFolderError,
  ProcessNotReadyError,
  ServerNotAvailableError,
  ServerNotSuitableError,
} from "./errors.ts";
export type { LocalServer, ServerOptions } from "./local-server.ts";
export { freePort, freePorts } from "./ports.ts";
export { startMongo } from "./start-mongo.ts";
export { startRedis } from "./start-redis.ts";
export { apiPortOf, NotBuiltError, type ServiceName, WrongSettingsError } from "./start-service.ts";
export { type ProcessName, type Stack, type StackOptions, startStack } from "./start-stack.ts";
export { watchServerFiles } from "./watch-server-files.ts";
