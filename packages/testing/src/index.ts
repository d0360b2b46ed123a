export type { ToolStats } from "./counting-tool-server/counting-core.ts";
export type { Behaviour, BehaviourInput, ScriptInput } from "./counting-tool-server/counting-tools.ts";
export { COUNTING_TOOLS, type CountingTool, LIST_TOOLS } from "./counting-tool-server/counting-tools.ts";
export {
  type LedgerEntry,
  type LoggedCall,
  readCallLog,
  readLedger,
} from "./counting-tool-server/effect-ledger.ts";
export {
  type CountingToolServer,
  type CountingToolServerCommandOptions,
  type CountingToolServerOptions,
  countingToolServerCommand,
  startCountingToolServer,
} from "./counting-tool-server/start-counting-tool-server.ts";
export { crashPoints } from "./crash-points.ts";
export { eventually } from "./eventually.ts";
export {
  type ModelScript,
  type ModelServer,
  type ModelServerOptions,
  startModelServer,
} from "./model-server/model-server.ts";
export {
  answer,
  type ModelRequest,
  type ScriptedAnswer,
  type ScriptedReply,
  type ScriptedToolCall,
} from "./model-server/model-server-reply.ts";
export { linesNotPrinted, type ReadmeBlock, readmeBlocks, readmePaths } from "./readme/readme-blocks.ts";
export { bundleWithCodeCache } from "./services/bundle-with-code-cache.ts";
export { type EventLoopBlocks, watchEventLoop } from "./services/event-loop-blocks.ts";
export type { ServiceName } from "./services/service-mains.ts";
export { bundledProgram, bundledServices, spawnService } from "./services/spawn-service.ts";
export {
  type LogLine,
  startWholeSystem,
  type WholeSystem,
  type WholeSystemOptions,
} from "./services/start-whole-system.ts";
export { type ReceivedSpan, type SpanReceiver, startSpanReceiver } from "./span-receiver.ts";
export { type TestServers, testServers } from "./test-servers/servers.ts";
export {
  type ServerProxy,
  startServerProxy,
  startTcpProxy,
  type TcpProxy,
} from "./test-servers/tcp-proxy.ts";
