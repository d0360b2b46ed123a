/** Thirty chains of 33 reads from one start, and behind one of them a step that fails with what waits for it. */
export function thousandSteps(): object[] {
  const read = (id: string, before: string) => ({
    id,
    tool: "noop",
    arguments: { value: 1 },
    dependsOn: [before],
  });
  const chains = Array.from({ length: 30 }, (_, chain) =>
    Array.from({ length: 33 }, (_step, index) =>
      read(`c${chain}s${index}`, index === 0 ? "start" : `c${chain}s${index - 1}`),
    ),
  );
  return [
    { id: "start", tool: "noop", arguments: { value: "go" } },
    ...chains.flat(),
    { id: "pay", tool: "keyed_effect", arguments: { value: "<<c3s32>>" } },
    ...Array.from({ length: 8 }, (_, index) =>
      read(`after${index}`, index === 0 ? "pay" : `after${index - 1}`),
    ),
  ];
}
