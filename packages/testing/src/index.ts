export type { BundledService } from "./bundles.ts";
export { bundleWithCodeCache } from "./bundles.ts";
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
export { returnDatabase } from "./databases.ts";
export {
  type ModelScript,
  type ModelServer,
  type ModelServerOptions,
  startModelServer,
} from "./model-server.ts";
export {
  answer,
  type ModelRequest,
  type ScriptedAnswer,
  type ScriptedReply,
  type ScriptedToolCall,
} from "./model-server-reply.ts";
export { type OauthGateway, type OauthGatewayOptions, startOauthGateway } from "./oauth-gateway.ts";
export {
  bundledProgram,
  bundledServices,
  type EventLoopBlock,
  type EventLoopBlocks,
  eventually,
  spawnService,
  watchEventLoop,
} from "./processes.ts";
export { anchorOf, linesNotPrinted, type ReadmeBlock, readmeBlocks, readmePaths } from "./readme-blocks.ts";
export { type ReceivedSpan, type SpanReceiver, startSpanReceiver } from "./span-receiver.ts";
export {
  type LogLine,
  type RunningRoles,
  type System,
  type SystemOptions,
  startRoles,
  startSystem,
  startWholeSystem,
  type WholeSystem,
} from "./start-system.ts";
export { findDue, listSteps } from "./store-reads.ts";
export { type CasePart, testAndProof } from "./test-and-proof.ts";
export {
  type ServerProxy,
  startServerProxy,
  startTcpProxy,
  type TcpProxy,
  type TestServers,
  testServers,
} from "./test-servers.ts";
