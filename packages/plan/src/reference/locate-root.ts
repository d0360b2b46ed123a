import { FORBIDDEN_KEYS, type Lookup, lookUp } from "../json/own-property.ts";
import type { PathSegment } from "../json/path.ts";

/** The names with which references of a plan may begin. Step ids win over tool names. */
export interface Names {
  readonly hasStep: (name: string) => boolean;
  /** Step ids by written ids that are invalid in a plan. */
  readonly renamed?: ReadonlyMap<string, string> | undefined;
  /** Ids of the steps that use a tool, by tool name; a single id when only one step uses it. */
  readonly tools?: Lookup<string | readonly string[]> | undefined;
  /** Names that exist inside a forEach: the alias and `index`. They win over step ids. */
  readonly hasScope?: ((name: string) => boolean) | undefined;
}

/** The meaning of the root of a reference. */
export type Located =
  | { readonly type: "scope"; readonly name: string; readonly path: readonly PathSegment[] }
  | { readonly type: "step"; readonly name: string; readonly path: readonly PathSegment[] }
  | { readonly type: "ambiguous"; readonly name: string; readonly candidates: readonly string[] }
  | { readonly type: "unknown" }
  | { readonly type: "forbidden"; readonly key: string };

/**
 * Finds the target of a reference. A tool name may contain dots, so fields after the root are tried as part
 * of the name.
 */
export function locateRoot(root: string, path: readonly PathSegment[], names: Names): Located {
  if (FORBIDDEN_KEYS.has(root)) return { type: "forbidden", key: root };
  for (const segment of path) {
    if (segment.type === "key" && FORBIDDEN_KEYS.has(segment.key))
      return { type: "forbidden", key: segment.key };
  }
  if (names.hasScope?.(root)) return { type: "scope", name: root, path };
  const renamed = names.renamed?.size ? locateRenamed(root, path, names.renamed) : undefined;
  if (names.hasStep(root)) {
    return renamed
      ? { type: "ambiguous", name: root, candidates: [root, renamed.name] }
      : { type: "step", name: root, path };
  }
  if (renamed) return { type: "step", ...renamed };
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
    const longer = joined(name, path[used]);
    if (longer === undefined) return { type: "unknown" };
    name = longer;
  }
}

/** The step whose written id is the root with the longest part of the path. */
function locateRenamed(
  root: string,
  path: readonly PathSegment[],
  renamed: ReadonlyMap<string, string>,
): { name: string; path: readonly PathSegment[] } | undefined {
  let found: { name: string; path: readonly PathSegment[] } | undefined;
  let name: string | undefined = root;
  for (let used = 0; name !== undefined; name = joined(name, path[used]), used++) {
    const id = renamed.get(name);
    if (id !== undefined) found = { name: id, path: path.slice(used) };
  }
  return found;
}

/** A name joined with the next field, which may be part of the name. */
function joined(name: string, segment: PathSegment | undefined): string | undefined {
  if (!segment || segment.type === "all" || name.length > 300) return undefined;
  return `${name}.${segment.type === "key" ? segment.key : segment.index}`;
}
