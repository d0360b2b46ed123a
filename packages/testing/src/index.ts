export type { Behaviour, BehaviourInput, ScriptInput } from "./counting-tool-server/behaviour.ts";
export { type LoggedCall, readCallLog } from "./counting-tool-server/call-log.ts";
export type { ToolStats } from "./counting-tool-server/counting-core.ts";
export {
  type CountingToolServerCommandOptions,
  countingToolServerCommand,
} from "./counting-tool-server/counting-tool-server-command.ts";
export { COUNTING_TOOLS, type CountingTool, LIST_TOOLS } from "./counting-tool-server/counting-tools.ts";
export { type LedgerEntry, readLedger } from "./counting-tool-server/effect-ledger.ts";
export {
  type CountingToolServer,
  type CountingToolServerOptions,
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
export { type ReadmeBlock, readmeBlocks, readmePaths } from "./readme/readme-blocks.ts";
export { linesNotPrinted } from "./readme/shown-output.ts";
export { bundleWithCodeCache } from "./services/bundle-with-code-cache.ts";
export { bundledProgram, bundledServices } from "./services/bundled.ts";
export { type EventLoopBlocks, watchEventLoop } from "./services/event-loop-blocks.ts";
export type { ServiceName } from "./services/service-mains.ts";
export { spawnService } from "./services/spawn-service.ts";
export {
  type LogLine,
  startWholeSystem,
  type WholeSystem,
  type WholeSystemOptions,
} from "./services/start-whole-system.ts";
export { type ReceivedSpan, type SpanReceiver, startSpanReceiver } from "./span-receiver.ts";
export { type ServerProxy, startServerProxy } from "./test-servers/server-proxy.ts";
export { type TestServers, testServers } from "./test-servers/servers.ts";
export { startTcpProxy, type TcpProxy } from "./test-servers/tcp-proxy.ts";
