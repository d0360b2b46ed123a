/** What must hold after every event of every seed, and the promise that it stands for. */
export const INVARIANTS = {
  "accepted-is-durable": "A plan whose id a client was given is in the database from then on",
  "accepted-is-whole": "A plan is stored only behind its request: what was not accepted is not executed",
  "key-makes-one":
    "All that a client submits under one key is one request with one plan, however often it asks",
  "ends-in-time": "Every plan ends by its deadline + 30 s, whatever the queue lost, and its request says so",
  "control-follows-entry":
    "A plan's document says that something was asked of it only when its journal says so",
  "end-follows-entry":
    "A plan's document says that the plan has ended only when its journal says so, and then the same",
  "ends-whole":
    "When a plan is over, each of its steps is over or in doubt, and its counts are those of its steps",
  "one-writer": "Nothing is written under an epoch older than the one that fenced it off",
  "journal-folds":
    "Every entry of a journal follows from those before it: from its place, its owner's lease, and the state of what it is about",
  "lists-tell":
    "What a list and its plan come to is what the items came to: no failed item counts as a success, and no success is missing",
  "lists-stop":
    "A list that stops at failures starts no item within 1 s of calm after one has failed, or under a later claim",
  "call-within-lease": "A call starts only while its executor holds the lease by the clock of the database",
  "taken-over": "A plan that is due is claimed within 3 s while all is calm",
  "completed-is-final": "A unit that is over never changes, and one that is COMPLETED is never called again",
  "status-arrows": "Statuses move along the arrows of DESIGN §5 alone",
  "reads-go-forward": "What a client reads never goes back, and begins with what it was told",
  "dependency-first":
    "A call starts only when all that its step waits for is durably over, as the failure policy allows",
  "barrier-first":
    "A call starts only when every barrier before its step in the plan is durably over, unless that barrier waits for the step",
  "approval-first": "A call that needs approval starts only after an operator's yes",
  "intent-first": "A call of class K, V or U starts only when its own intent is durable",
  "same-arguments":
    "Every attempt of a unit sends the same bytes, but for reads that a crash repeats with what they were made of",
  "same-key": "Every attempt of a unit sends the same key, and no other unit does",
  "keyed-effect-once": "Class K acts once for a unit",
  "plain-effect-once": "Class U acts once for a unit, and once more for each time that an operator says so",
  "doubt-is-told":
    "A unit for which a tool with side effects acted never says that it did not, unless an operator said so or the tool refused its key",
  "looked-up-until-known":
    "A call whose look-up tells the truth is in doubt only when its plan is being ended, or is poison",
  "verified-effect-once":
    "Class V acts once for a unit as long as the lookup tool tells the truth, and once more for each operator's word",
  "unreachable-is-waited-for":
    "A step fails because its server cannot be reached only when that has lasted as long as its plan waits for it, however often it was tried",
  limits: "One run keeps to maxParallel, to the limits of tools, and lets nothing run beside a barrier",
  "cancel-stops":
    "After a cancel no call starts later than 1 s, or under a later claim, but for those that settle what an earlier one did within 5 s, and the plan is over within 10 s of calm",
  "pause-stops": "After a pause no call starts later than 1 s of calm",
  "deadline-stops":
    "No call starts later than 1 s after its plan's deadline, but for those that settle what an earlier one did",
  "poison-ends": "Nothing is called after 5 claims without progress",
  "progress-is-no-poison": "A plan ends POISONED only after 5 claims in a row that finished nothing",
  "outlived-once":
    "A claim is taken from the count of those without progress at most once, by the process that made it",
  "no-surprise": "A run ends early only because its lease was lost or the database was away",
} as const;

/** Name of an invariant. */
export type InvariantName = keyof typeof INVARIANTS;

/** An invariant that did not hold. */
export interface Violation {
  invariant: InvariantName;
  /** What happened instead. */
  message: string;
  /** Simulated milliseconds. */
  at: number;
}

/** Says that an invariant does not hold. */
export type Fail = (invariant: InvariantName, message: string) => void;
