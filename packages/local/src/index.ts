export { type Child, type ChildOptions, startChild } from "./children/child.ts";
export { freePort } from "./children/free-port.ts";
export {
  ChecksumError,
  ProcessNotReadyError,
  ServerNotAvailableError,
  ServerNotSuitableError,
} from "./errors.ts";
export type { LocalServer, ServerOptions } from "./local-server.ts";
export { startMongo } from "./mongo/start-mongo.ts";
export { startRedis } from "./redis/start-redis.ts";
