import { canonicalDigest } from "../json/digest.ts";
import { bareName } from "../tools/name-tools.ts";
import type { ToolDescriptor } from "../tools/tool-descriptor.ts";

/**
 * SHA-256, in hexadecimal, of all that the tool declares: name, texts, schemas, annotations, contract. The
 * operator's configuration (name of the server, trust, override, the prefix that makes a name unique) and
 * what was learned of its outputs do not count: neither changes the tool.
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
