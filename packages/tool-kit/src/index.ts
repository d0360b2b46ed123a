export {
  type CallContext,
  CallOpenError,
  type Contract,
  defineTool,
  EFFECT_META,
  IDEMPOTENCY_KEY_META,
  Refusal,
  type Tool,
  type ToolDefinition,
} from "./define-tool.ts";
export { type AnswerStore, type KeptAnswer, memoryAnswers, once } from "./once.ts";
export {
  type CallOutcome,
  type HttpOptions,
  type HttpToolServer,
  type Log,
  serveHttp,
  serveStdio,
  type ToolServerOptions,
} from "./serve.ts";
