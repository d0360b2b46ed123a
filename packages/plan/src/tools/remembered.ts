/**
 * A function that computes its result once for each object and caches it for the lifetime of the object.
 * Neither the objects nor the results may change.
 */
export function remembered<Subject extends object, Answer extends NonNullable<unknown>>(
  work: (subject: Subject) => Answer,
): (subject: Subject) => Answer {
  const known = new WeakMap<Subject, Answer>();
  return (subject) => {
    const found = known.get(subject);
    if (found !== undefined) return found;
    const answer = work(subject);
    known.set(subject, answer);
    return answer;
  };
}
