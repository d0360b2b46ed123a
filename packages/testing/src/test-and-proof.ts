/** A part of the cases of a test, with the options of that part. */
export interface CasePart<Case> {
  cases: Case[];
  /** For Vitest: tagged "proof" if only `npm run proof` runs these cases. */
  options: { tags?: string[] };
}

/**
 * Splits the cases of a test: `npm test` runs those that are named, `npm run proof` runs the others.
 *
 * @param nameOf - the name of a case
 * @param inTest - the names of the cases of `npm test`
 * @throws {TypeError} for a name that no case has, and for none: the promise of a test is always checked
 */
export function testAndProof<Case>(
  cases: readonly Case[],
  nameOf: (one: Case) => string,
  inTest: readonly string[],
): CasePart<Case>[] {
  const names = new Set(inTest);
  const chosen = cases.filter((one) => names.has(nameOf(one)));
  const unknown = inTest.filter((name) => !chosen.some((one) => nameOf(one) === name));
  if (unknown.length > 0) throw new TypeError(`No case has the name ${unknown.join(", ")}`);
  if (chosen.length === 0) throw new TypeError("npm test would run none of the cases");
  return [
    { cases: chosen, options: {} },
    { cases: cases.filter((one) => !names.has(nameOf(one))), options: { tags: ["proof"] } },
  ];
}
