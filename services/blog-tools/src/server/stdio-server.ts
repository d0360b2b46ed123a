import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { type BlogServerOptions, createBlogServer } from "./mcp-server.ts";

/**
 * Serves MCP over standard input and output, to clients of both protocol eras. `onEnd` is called when the
 * client closed our standard input.
 */
export function serveOverStdio({ onEnd, ...options }: BlogServerOptions & { onEnd: () => void }): {
  close(): Promise<void>;
} {
  process.stdin.once("end", onEnd);
  return serveStdio(() => createBlogServer(options), {
    onerror: (error) => options.onError(error, "mcp"),
  });
}
