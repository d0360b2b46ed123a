import { createHealthHandler, createMeters, createMetrics, type Registry } from "@planwright/runtime";
import { type HttpToolServer, serveHttp, type ToolServerOptions } from "@planwright/tool-kit";
import { allTools } from "./all-tools.ts";
import type { BlogDatabase } from "./open-blog-database.ts";

/** Called for failures that the caller did not cause. Their text never reaches the caller. */
type OnError = (error: unknown, tool: string) => void;

/** The address to listen on, and the accepted host names. */
export interface HttpServerOptions {
  database: BlogDatabase;
  onError: OnError;
  host: string;
  /** 0 takes a free one. */
  port: number;
  /**
   * Names that are allowed in the Host and Origin headers, in addition to those of this machine and `host`.
   */
  allowedHosts: readonly string[];
  /** Aborted before `close()`: from then on the server is not ready, and connections end with their call. */
  stopping: AbortSignal;
}

/** What clients see of this server, over HTTP and over standard input and output. */
export function describeServer(onError: OnError): ToolServerOptions {
  return {
    name: "blog-tools",
    title: "Blog tools",
    version: "0.1.0",
    instructions:
      "Authors write blogs; comments and pictures belong to blogs. Create tools return the new thing with its _id.",
    log: (_message, { error, tool = "mcp" }) => {
      if (error !== undefined) onError(error, tool);
    },
  };
}

/**
 * Serves MCP over streamable HTTP at `/mcp`, and `/healthz`, `/readyz` and `/metrics`. Health and metrics are
 * exempt from the check of Host and Origin, because kubelets and Prometheus use addresses of pods.
 */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpToolServer> {
  const { database, onError, host, port, allowedHosts, stopping } = options;
  const metrics = createMetrics("blog-tools");
  return await serveHttp(allTools(database), {
    ...describeServer(onError),
    host,
    port,
    allowedHosts,
    stopping,
    onCall: createToolMetrics(metrics),
    answerOther: createHealthHandler({ checks: { mongodb: () => database.ping() }, metrics, stopping }),
  });
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Registers the metrics of the tools; the result counts a call. */
function createToolMetrics(registry: Registry): NonNullable<ToolServerOptions["onCall"]> {
  const { counter, histogram } = createMeters(registry, "planwright_blog_tools");
  const calls = counter("calls_total", "Tool calls that were answered", ["tool", "outcome"]);
  const latency = histogram("call_duration_seconds", "Time until tool calls were answered", {
    seconds: SECONDS,
    labelNames: ["tool"],
  });
  return (tool, outcome, durationMs) => {
    calls.inc({ tool, outcome });
    latency.observe({ tool }, durationMs / 1_000);
  };
}
