import { readFileSync, statSync, watch } from "node:fs";
import { dirname, relative, resolve, sep } from "node:path";
import { z } from "zod";

/** Only the fields that name files. */
const ServerSchema = z.looseObject({
  command: z.string(),
  args: z.array(z.string()).default([]),
  cwd: z.string().optional(),
  disabled: z.boolean().default(false),
});
const FileSchema = z.looseObject({ mcpServers: z.record(z.string(), z.unknown()) });

/** Editors write a file in several steps. */
const QUIET_MS = 100;

/**
 * Calls `onChange` with the name of a stdio server when one of its files changed: its command, and those of its
 * arguments that name files, as far as they lie in the folder and not in `node_modules`. What such a file imports
 * is not watched.
 * @param serversFile - a servers file that was checked before
 * @returns ends the watching
 */
export function watchServerFiles(
  serversFile: string,
  folder: string,
  onChange: (server: string) => void,
): () => void {
  const { mcpServers } = FileSchema.parse(JSON.parse(readFileSync(serversFile, "utf8")));
  const serversOf = new Map<string, Set<string>>();
  for (const [name, entry] of Object.entries(mcpServers))
    for (const file of filesOf(entry, folder))
      serversOf.set(file, (serversOf.get(file) ?? new Set()).add(name));
  const timers = new Map<string, NodeJS.Timeout>();
  const changed = (server: string): void => {
    clearTimeout(timers.get(server));
    timers.set(
      server,
      setTimeout(() => onChange(server), QUIET_MS),
    );
  };
  // The folder, because an editor may replace the file: then a watch of the file itself sees nothing more.
  const watchers = [...new Set([...serversOf.keys()].map(dirname))].map((parent) =>
    watch(parent, (_event, file) => {
      if (file !== null) serversOf.get(resolve(parent, file))?.forEach(changed);
    }),
  );
  return () => {
    for (const watcher of watchers) watcher.close();
    for (const timer of timers.values()) clearTimeout(timer);
  };
}

function filesOf(entry: unknown, folder: string): string[] {
  const read = ServerSchema.safeParse(entry);
  if (!read.success || read.data.disabled) return [];
  const { command, args, cwd = "." } = read.data;
  return [command, ...args]
    .map((word) => resolve(folder, cwd, word))
    .filter((path) => {
      const inside = relative(folder, path).split(sep);
      if (inside[0] === ".." || inside.includes("node_modules")) return false;
      return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
    });
}
