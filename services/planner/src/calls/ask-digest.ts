import type { Asked } from "@planwright/models";
import { canonicalDigest } from "@planwright/plan";
import type { ModelCallDocument } from "@planwright/store";
import { keptText } from "./record-of-call.ts";

/** Messages as they are stored: without secrets, and truncated if they are too long. Pure. */
export function keptMessages({ messages }: Asked): ModelCallDocument["messages"] {
  return messages.map(({ role, content }) => ({ role, content: keptText(content) }));
}

/**
 * SHA-256 of a question: its messages as {@link keptMessages} returns them, the answer schema, and the tools
 * that are sent with it. Pure.
 */
export function askDigest(
  asked: Pick<Asked, "schema" | "tools">,
  messages: ModelCallDocument["messages"],
): string {
  const { schema = null, tools = null } = asked;
  return canonicalDigest({ messages, schema, tools });
}
