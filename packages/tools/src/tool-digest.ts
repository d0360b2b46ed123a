import { createHash } from "node:crypto";
import type { ToolDescriptor } from "@planwright/plan";
import { canonicalJson } from "./canonical-json.ts";

/**
 * SHA-256, in hexadecimal, of all that the tool says of itself: name, texts, schemas, annotations, contract. What the
 * operator says (name of the server, trust, override, the prefix that makes a name unique) is left out: it does not
 * change the tool.
 */
export function toolDigest(descriptor: ToolDescriptor): string {
  const { server: _server, trusted: _trusted, override: _override, name, ...rest } = descriptor;
  const ownName = name.slice(name.indexOf("/") + 1);
  return createHash("sha256")
    .update(canonicalJson({ ...rest, name: ownName }))
    .digest("hex");
}
