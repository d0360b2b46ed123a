import { FORBIDDEN_KEYS, type Lookup, lookUp } from "../own-property.ts";
import type { PathSegment } from "./path.ts";

/** The names that references of a plan may begin with. Step ids win over tool names. */
export interface Names {
  readonly hasStep: (name: string) => boolean;
  /** Step ids of the steps that use a tool, by tool name; a plain id where just one step does. */
  readonly tools?: Lookup<string | readonly string[]> | undefined;
  /** Names that exist inside a forEach: the alias and `index`. They win over step ids. */
  readonly hasScope?: ((name: string) => boolean) | undefined;
}

/** What the root of a reference means. */
export type Located =
  | { readonly type: "scope"; readonly name: string; readonly path: readonly PathSegment[] }
  | { readonly type: "step"; readonly name: string; readonly path: readonly PathSegment[] }
  | { readonly type: "ambiguous"; readonly name: string; readonly candidates: readonly string[] }
  | { readonly type: "unknown" }
  | { readonly type: "forbidden"; readonly key: string };

/**
 * Finds what a reference goes into. A tool name may hold dots, so the fields that follow the root are tried as part of it.
 */
export function locateRoot(root: string, path: readonly PathSegment[], names: Names): Located {
  if (FORBIDDEN_KEYS.has(root)) return { type: "forbidden", key: root };
  for (const segment of path) {
    if (segment.type === "key" && FORBIDDEN_KEYS.has(segment.key))
      return { type: "forbidden", key: segment.key };
  }
  if (names.hasScope?.(root)) return { type: "scope", name: root, path };
  if (names.hasStep(root)) return { type: "step", name: root, path };
  if (!names.tools) return { type: "unknown" };
  let name = root;
  for (let used = 0; ; used++) {
    const users = lookUp(names.tools, name);
    if (users !== undefined) {
      const candidates = typeof users === "string" ? [users] : users;
      const [only] = candidates;
      if (only !== undefined && candidates.length === 1)
        return { type: "step", name: only, path: path.slice(used) };
      if (candidates.length > 1) return { type: "ambiguous", name, candidates };
    }
    const next = path[used];
    if (!next || next.type === "all" || name.length > 300) return { type: "unknown" };
    name += `.${next.type === "key" ? next.key : next.index}`;
  }
}
