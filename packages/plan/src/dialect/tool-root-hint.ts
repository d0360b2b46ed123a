import { cut } from "../diagnostics/diagnostic-collector.ts";

/** A tool name with which references can begin. */
const PLAIN = /^[A-Za-z_][\w./-]*$/;
const MAX_NAMED = 5;
/** Maximum number of hints for one plan. */
const MAX_HINTS = 200;

/** A hint for a message, and the reference to write. */
export interface ToolRootHint {
  readonly message: string;
  readonly suggestion: string;
}

/** @param written - the text between the brackets of a reference, or its beginning */
export type ToolRootHints = (written: string) => ToolRootHint | undefined;

/**
 * Hints for references that seem to begin with a tool whose name contains spaces or signs: they must name one
 * of the steps with that tool. Case and the width of spaces do not matter. Undefined when no such tool is
 * similar.
 */
export function createToolRootHints(
  steps: readonly { readonly id: string; readonly tool: string }[],
): ToolRootHints {
  let left = MAX_HINTS;
  return (written) => {
    const wanted = comparable(written);
    if (wanted === "" || left-- <= 0) return undefined;
    const tool = steps.find((step) => !PLAIN.test(step.tool) && begins(wanted, comparable(step.tool)))?.tool;
    if (tool === undefined) return undefined;
    const users = steps.filter((step) => step.tool === tool).slice(0, MAX_NAMED);
    const [first = "", ...others] = users.map(({ id }) => `<<${id}>>`);
    return {
      message: `; refer to tool ${cut(tool)} by the id of its step: ${[first, ...others].join(", ")}`,
      suggestion: first,
    };
  };
}

/** True when the text begins with the name, or is its beginning up to a sign: `send` of `send mail`. */
function begins(wanted: string, tool: string): boolean {
  return (
    wanted.startsWith(tool) || (tool.startsWith(wanted) && !/^[\p{L}\p{N}_]/u.test(tool.slice(wanted.length)))
  );
}

function comparable(text: string): string {
  return text.slice(0, 300).normalize("NFC").toLowerCase().replace(/\s+/gu, " ").trim();
}
