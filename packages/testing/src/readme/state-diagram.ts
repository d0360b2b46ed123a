/**
 * A Mermaid state diagram of a lifecycle table, with every status and every move. A status without moves is
 * final.
 * @param first - the initial statuses
 */
export function stateDiagram(
  table: Readonly<Record<string, { moves: readonly string[] }>>,
  first: readonly string[],
): string {
  const moves = Object.entries(table).flatMap(([status, row]) => [
    ...row.moves.map((next) => `${status} --> ${next}`),
    ...(row.moves.length === 0 ? [`${status} --> [*]`] : []),
  ]);
  const lines = [...first.map((status) => `[*] --> ${status}`), ...moves];
  return ["stateDiagram-v2", ...lines.map((line) => `  ${line}`)].join("\n");
}
