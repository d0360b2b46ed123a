import { bareName } from "@planwright/plan";
import { ARTICLES } from "../text/lexicon.ts";
import type { Token } from "../text/tokens.ts";
import type { Clause } from "./clauses.ts";
import type { ToolMatch } from "./match-tool.ts";

const PLACING = new Set(["on", "in", "at", "via", "using", "with", "through", "from"]);
const SERVER = new Set(["server", "servers"]);
/** The most words that the name of one server is written with. */
const MAX_WORDS = 4;

/** A clause without the words that name a server, and the tools of that server. */
export interface OnServer {
  clause: Clause;
  matches: ToolMatch[];
}

/**
 * "create folder Work on the wiki server", for a tool that several servers offer: when the last words of the
 * clause are the name of one of these servers. Null for every other clause.
 */
export function onServer(clause: Clause, matches: readonly ToolMatch[]): OnServer | null {
  const servers = sharedBy(matches);
  for (const server of servers) {
    const rest = withoutServer(clause.rest, server);
    if (!rest) continue;
    const ofServer = matches.filter(({ words }) => words.tool.server === server);
    return { clause: { ...clause, rest }, matches: ofServer };
  }
  return null;
}

/** True when the tools are the same tool, by its name, on several servers. */
export function isOneOnServers(matches: readonly ToolMatch[]): boolean {
  const names = new Set(matches.map(({ words }) => bareName(words.tool)));
  return names.size === 1 && sharedBy(matches).length === matches.length;
}

/** Servers that offer one of these tools under a name that another server offers too. */
function sharedBy(matches: readonly ToolMatch[]): string[] {
  const servers = new Map<string, Set<string>>();
  for (const { words } of matches) {
    const { server } = words.tool;
    if (server === undefined) continue;
    const name = bareName(words.tool);
    servers.set(name, (servers.get(name) ?? new Set()).add(server));
  }
  return [...new Set([...servers.values()].filter(({ size }) => size > 1).flatMap((each) => [...each]))];
}

/** The tokens before "on (the) wiki (server)" at the end; null when the tokens do not end with such words. */
function withoutServer(rest: readonly Token[], server: string): Token[] | null {
  const isSaid = SERVER.has(rest.at(-1)?.lower ?? "");
  const end = isSaid ? rest.length - 1 : rest.length;
  for (let length = 1; length <= MAX_WORDS && length < end; length++) {
    const said = rest.slice(end - length, end).map(({ lower }) => lower);
    if (lettersOf(said.join("")) !== lettersOf(server)) continue;
    const before = rest[end - length - 1];
    const at = ARTICLES.has(before?.lower ?? "") ? end - length - 2 : end - length - 1;
    const placing = rest[at];
    return placing?.kind === "word" && PLACING.has(placing.lower) ? rest.slice(0, at) : null;
  }
  return null;
}

const lettersOf = (text: string) => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
