import { canonicalDigest } from "../json/digest.ts";
import { bareName } from "../tools/name-tools.ts";
import type { ToolDescriptor } from "../tools/tool-descriptor.ts";

/**
 * SHA-256, in hexadecimal, of all declarations of the tool: name, texts, schemas, annotations, contract. The
 * operator's configuration (name of the server, trust, override, the prefix that makes a name unique) and the
 * shape of its observed outputs do not count: they do not change the tool.
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
