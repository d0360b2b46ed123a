/**
 * A function that works its answer out once for each object that it is asked about, and forgets it with the object. For objects that
 * nothing changes once they are read, and for answers that no caller changes.
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
