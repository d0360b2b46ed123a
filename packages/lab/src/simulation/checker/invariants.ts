/** The invariants, which must hold after every event of every seed. */
export const INVARIANTS = {
  "accepted-is-durable": "A plan whose id a client received is in the database from that time on",
  "request-before-plan":
    "A plan is stored only after its request, so that no plan is executed that was not accepted",
  "acknowledged-is-kept":
    "A version whose id a client received is there until it has ended, and nothing is called for a removed request",
  "key-makes-one": "All submissions of a client under one key make one request with one plan",
  "ends-in-time":
    "Every plan and its request end by the plan's deadline + 30 s, without the waits in which only a person could continue it, even when the queue lost jobs",
  "only-own-time-counts":
    "A plan is EXPIRED only after its own time, without the waits in which only a person could continue it, however long these were",
  "control-is-kept":
    "A control is in the document of its plan until it is in the journal, once: before the end if it was asked more than 1 s of calm before that",
  "end-follows-entry": "A plan document shows an end only when the journal has the same end",
  "version-follows-entry":
    "A later version of a plan is stored, and a plan is queued by a client, only when an entry of its journal says so",
  "ends-complete":
    "When a plan has ended, each of its steps has ended or is in doubt, and its counts are those of its steps",
  "one-writer": "No write has an older epoch than the latest fence",
  "journal-folds":
    "Every entry of a journal fits those before it: its seq, the lease of its owner, and the state of its subject",
  "lists-agree":
    "The results of a list and its plan agree with its items: no failed item counts as a success, and no success is missing",
  "lists-stop":
    "A list that stops at failures starts no item within 1 s of calm after one has failed, or under a later claim",
  "call-within-lease": "A call starts only while its executor holds the lease by the clock of the database",
  "taken-over": "A plan that is due is claimed within 3 s while all is calm",
  "completed-is-final":
    "A unit that has ended never changes, and one that is COMPLETED is never called again",
  "status-arrows": "Statuses follow only the moves of the lifecycle tables",
  "reads-go-forward":
    "A client never reads an older state than before, beginning with the answer to its submission",
  "dependency-first":
    "A call starts only when the dependencies of its step have durably ended, as the failure policy allows",
  "barrier-first":
    "A call starts only when every barrier before its step in the plan has durably ended, unless that barrier waits for the step",
  "approval-first": "A call that needs approval starts only after an operator approved it",
  "no-needless-approval":
    "A plan waits for an approval, and a client has to accept a repeat, only when the tool, the plan as the client wrote it, or a repeat of a call that acted or may have acted demands it and no client has accepted it",
  "intent-first": "A call of class K, V or U starts only when its own intent is durable",
  "same-arguments":
    "Every attempt of a unit sends the same bytes, except reads that a crash repeats together with their inputs",
  "same-key": "Every attempt of a unit sends the same key, and no other unit does",
  "keyed-effect-once": "Class K acts once for a unit",
  "plain-effect-once": "Class U acts once for a unit, and once more for each retry by an operator",
  "versions-once":
    "A call that acted in a version is made again by a later one only under its key, or when its step was named",
  "doubt-is-recorded":
    "A unit whose tool acted is never recorded as without effect, unless an operator decided so or the tool refused its key",
  "looked-up-until-known":
    "A call with a correct lookup is in doubt only when its plan is being ended or is poisoned",
  "verified-effect-once":
    "Class V acts once for a unit as long as the answers of the lookup tool are correct, and once more for each retry by an operator",
  "unreachable-is-waited-for":
    "A step fails for an unreachable server only after the plan's wait for unreachable servers, whatever the number of attempts",
  limits: "One run keeps to maxParallel, to the limits of tools, and runs nothing beside a barrier",
  "memory-budget":
    "The outputs that an executor reads at the same time fit into its budget, except one that is larger alone, and small ones of a sixteenth together",
  "cancel-stops":
    "After a cancel no call starts later than 1 s, or under a later claim, except calls that resolve an earlier one within 5 s, and the plan ends within 10 s of calm",
  "pause-stops": "After a pause no call starts later than 1 s of calm",
  "deadline-stops":
    "No call starts later than 1 s after its plan's deadline, except calls that resolve an earlier one",
  "poison-ends": "No call starts after 5 claims without progress",
  "progress-is-no-poison": "A plan ends POISONED only after 5 claims in a row that finished nothing",
  "told-is-durable": "A process tells its own waits of an end only when the end is in the journal",
  "survived-once":
    "A claim is subtracted from the count of claims without progress at most once, by the process that made it",
  "no-surprise": "A run ends early only because its lease was lost or the database was unreachable",
} as const;

/** Name of an invariant. */
export type InvariantName = keyof typeof INVARIANTS;

/** An invariant that did not hold. */
export interface Violation {
  invariant: InvariantName;
  /** A description of the violation. */
  message: string;
  /** Simulated milliseconds. */
  at: number;
}

/** Reports that an invariant does not hold. */
export type Fail = (invariant: InvariantName, message: string) => void;
