export type { Behaviour, BehaviourInput, ScriptInput } from "./counting-tool-server/behaviour.ts";
export { type LoggedCall, readCallLog } from "./counting-tool-server/call-log.ts";
export type { ToolStats } from "./counting-tool-server/counting-core.ts";
export {
  type CountingToolServerCommandOptions,
  countingToolServerCommand,
} from "./counting-tool-server/counting-tool-server-command.ts";
export type { CountingTool } from "./counting-tool-server/counting-tools.ts";
export { type LedgerEntry, readLedger } from "./counting-tool-server/effect-ledger.ts";
export {
  type CountingToolServer,
  type CountingToolServerOptions,
  startCountingToolServer,
} from "./counting-tool-server/start-counting-tool-server.ts";
export {
  developerCommand,
  numberOption,
  wholeNumberOption,
  wordOption,
  wordsOption,
} from "./developer-command.ts";
export { eventually } from "./eventually.ts";
export {
  type BenchClient,
  createBenchClient,
  operation,
  UnexpectedAnswerError,
} from "./measuring/bench-client.ts";
export { type Latencies, latenciesOf, perSecond } from "./measuring/latencies.ts";
export {
  cpuMsPerPlan,
  cpuSeconds,
  type ProcessNames,
  residentMiB,
} from "./measuring/process-cpu.ts";
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
export { type ReadmeBlock, readmeBlocks, readmePaths } from "./readme/readme-blocks.ts";
export { linesNotPrinted } from "./readme/shown-output.ts";
export { type ServerProxy, startServerProxy } from "./server-proxy.ts";
export { type TestServers, testServers } from "./servers.ts";
export type { ServiceName } from "./services/bundle-services.ts";
export { spawnService } from "./services/spawn-service.ts";
export {
  type LogLine,
  startWholeSystem,
  type WholeSystem,
  type WholeSystemOptions,
} from "./services/start-whole-system.ts";
export { ToolsNotKnownError, waitForTools } from "./services/wait-for-tools.ts";
export { type ReceivedSpan, type SpanReceiver, startSpanReceiver } from "./span-receiver.ts";
