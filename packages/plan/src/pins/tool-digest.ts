import { canonicalDigest } from "../json/digest.ts";
import { bareName } from "../tools/name-tools.ts";
import type { ToolDescriptor } from "../tools/tool-descriptor.ts";

/**
 * SHA-256, in hexadecimal, of all that the tool says of itself: name, texts, schemas, annotations, contract. What the
 * operator says (name of the server, trust, override, the prefix that makes a name unique) is left out, and so is what was learned of its
 * outputs: neither changes the tool.
 */
export function toolDigest(descriptor: ToolDescriptor): string {
  const {
    server: _server,
    trusted: _trusted,
    override: _override,
    observedOutput: _observedOutput,
    name: _name,
    ...rest
  } = descriptor;
  return canonicalDigest({ ...rest, name: bareName(descriptor) });
}
