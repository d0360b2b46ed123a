// Made from schema.graphql by schema.test.ts: run vitest with -u after a change there.
/** The schema in the schema definition language, as code, so that every build carries it. */
export const SDL = `"""
An instant in UTC, as RFC 3339 text: "2026-11-21T08:40:00.000Z".
"""
scalar DateTime

"""
Any JSON value.
"""
scalar JSON

"""
Reading. Nothing of it changes anything.
"""
type Query {
  """
  Everything recorded under one request.
  Errors: NOT_FOUND, BAD_USER_INPUT.
  """
  request("req_{unix seconds}_{random}." requestId: ID!): Request

  """
  What happened to a request and its plans, event by event, in the order of its journal. Read on with endCursor to learn what came since.
  Errors: NOT_FOUND, BAD_USER_INPUT for a page size outside 1 to 100, or a cursor that was never given out for such a list.
  """
  events(
    "req_{unix seconds}_{random}."
    requestId: ID!
    "Events on one page, 1 to 100."
    first: Int! = 50
    "Goes on after this cursor; absent starts at the first event."
    after: String
  ): JournalEventConnection!

  """
  The plan of a request as its journal told it at one of its entries: what entries 1 to seq say, and nothing that came later. Above the last entry it
  is what the journal tells now; the seq of the answer says which entry that is, and Request.seq is the last one.
  Planning is told by events alone, and the journal does not tell when a plan was queued. So there is no status of the request here, and none of the
  plan before its first entry.
  Errors: NOT_FOUND, BAD_USER_INPUT for a seq below 0.
  """
  requestAt(
    "req_{unix seconds}_{random}."
    requestId: ID!
    "The last entry that counts; 0: before the first one."
    seq: Int!
  ): RequestAt!

  """
  Everything recorded under a request as one JSON document, without secrets: request, plans with steps and attempts, model calls,
  tools as pinned and as they are now, timeline. Needs read, as every query. At most 7 MiB, unless the service is set otherwise; leftOut says what found no room. Outputs over 16 KiB are named
  with their size. Errors: NOT_FOUND, BAD_USER_INPUT.
  """
  debugBundle("req_{unix seconds}_{random}." requestId: ID!): JSON!

  """
  Requests, newest first. A page may hold fewer than asked for although pageInfo.hasNextPage says that more follow: a filter by text,
  tool or errorCode goes through 10,000 at once.
  Errors: BAD_USER_INPUT for a page size outside 1 to 100, a cursor that was never given out, or a filter that contradicts itself.
  """
  requests(
    "Requests on one page, 1 to 100."
    first: Int! = 20
    "Goes on after this cursor; absent starts at the newest."
    after: String
    "Only requests in one of these states; absent means all. The same as filter.status; not both."
    status: [RequestStatus!]
    "Only requests that fit everything in it."
    filter: RequestFilter
    "By time of creation."
    orderBy: RequestOrder! = NEWEST_FIRST
  ): RequestConnection!

  """
  One plan by its own id.
  Errors: NOT_FOUND, BAD_USER_INPUT.
  """
  plan("plan_{unix seconds}_{random}." id: ID!): Plan

  """
  All versions of a request's plan, newest first; empty while the first one is being made.
  Errors: NOT_FOUND, BAD_USER_INPUT.
  """
  plansByRequestId("req_{unix seconds}_{random}." requestId: ID!): [Plan!]!

  """
  Plans of the newest requests, all versions, newest first. Of the older API; requests has pages.
  Errors: BAD_USER_INPUT for a number outside 1 to 100.
  """
  getPlans("Requests whose plans are given, 1 to 100." first: Int! = 20): [Plan!]!

  """
  The plans of getPlans whose execution was asked for, as executeByRequestId shows them. Of the older API.
  Errors: BAD_USER_INPUT for a number outside 1 to 100.
  """
  getExecutions("Requests whose executions are given, 1 to 100." first: Int! = 20): [Execution!]!

  """
  A part of the JSON text of an output that an answer holds by reference; GET /outputs/{ref} streams the whole.
  Errors: NOT_FOUND also while there is no output yet, BAD_USER_INPUT, OVERLOADED.
  """
  output(
    "ref of an OutputReference."
    ref: ID!
    "The first byte of the part: 0, then nextOffset of the part before."
    offset: Int! = 0
    "Most that the part holds, 4 to 1048576 bytes."
    maxBytes: Int! = 262144
  ): OutputPage!

  """
  Checks a plan against the tools known now and stores nothing. Takes every dialect that submitPlan takes.
  """
  validatePlan("The plan, in any accepted dialect, at most 1 MiB." plan: JSON!): PlanValidation!

  """
  The tools that plans may use, as the executors last saw them.
  """
  getAvailableTools: [Tool!]!

  """
  The tool servers of the executors, by name, and where the connections to them stand: why a tool is not there.
  """
  toolServers: [ToolServer!]!
}

"""
Every field may be refused with OVERLOADED before anything of the operation runs: send it again after
extensions.retryAfterMs milliseconds. Where the service asks for a key or token, every operation may be refused as a whole:
UNAUTHENTICATED, FORBIDDEN with the scope that is missing, RATE_LIMITED with extensions.retryAfterMs.
"""
type Mutation {
  """
  Accepts a sentence and returns at once, or with waitMs at its end; planning goes on behind it. Read the result with request(requestId).
  Errors: BAD_USER_INPUT for a query that is empty or longer than 10,000 characters, POLICY_INVALID with the option and its value,
  IDEMPOTENCY_KEY_REUSED.
  """
  createPlan(
    "What is to be done, in plain words, 1 to 10,000 characters."
    query: String!
    "Start executing as soon as a valid plan is stored."
    execute: Boolean! = true
    """
    How often a plan that ends FAILED or PARTIAL is made anew without being asked for, 0 to 5: see replan. New side effects then
    wait for approval, unless the service is set to let them run.
    """
    maxReplans: Int! = 0
    """
    Tell the results in words once the plan is COMPLETED or PARTIAL: answer then follows, or answerError. The status does not wait
    for it.
    """
    answer: Boolean! = false
    "Most that the calls of models for this request may take. Absent means the limits of the service, which cannot be exceeded."
    limits: ModelLimitsInput
    "Words by which the request is found again, 10 at most, each 1 to 64 of A-Z a-z 0-9 . _ : / -, such as team:billing."
    tags: [String!]
    "Now and here, for words such as tomorrow, and what is known of the caller. Absent means the moment of acceptance, in UTC."
    context: ContextInput
    """
    How the plan is to behave, as one of the older systems did: tool-chaining, tool-planning, ordered-calls, orchestrator, contract.
    Absent means the service's own way.
    """
    profile: String
    """
    Options of the plan's policy, such as {maxParallel: 4}, or {unreachableMs: 0} for a plan that waits for no tool server that cannot be
    reached (default 600000); each wins over the profile. Kept with the request, for its later versions too.
    """
    policy: JSON
    """
    The client's own name for this submission, 1 to 256 characters: sent again within 24 h, it gives the same request and
    plans nothing twice. With other arguments it is refused.
    """
    idempotencyKey: String
    """
    Longest wait for the end, in milliseconds, 0 to 30,000: the request is then given once nothing more happens to it by itself (it has ended,
    or waits for a client or operator), or as it stands when the time is over. No part of what idempotencyKey stands for.
    """
    waitMs: Int! = 0
  ): Request!

  """
  Accepts a ready plan as JSON and returns at once; no model is asked.
  Errors: PLAN_INVALID with every finding in extensions.diagnostics; the plan is then stored under
  extensions.requestId and extensions.planId, and nothing is queued. IDEMPOTENCY_KEY_REUSED.
  """
  submitPlan(
    "The plan, in any accepted dialect, at most 1 MiB. Pass it as a variable: a document holds 2,000 tokens at most."
    plan: JSON!
    "Start executing at once."
    execute: Boolean! = true
    "The sentence that the plan was made for; kept for people."
    query: String
    """
    How often the plan is made anew without being asked for when it ends FAILED or PARTIAL, 0 to 5: see replan. New side effects
    then wait for approval, unless the service is set to let them run.
    """
    maxReplans: Int! = 0
    """
    Tell the results in words once the plan is COMPLETED or PARTIAL: answer then follows, or answerError. The status does not wait
    for it.
    """
    answer: Boolean! = false
    "Most that the calls of models for this request may take. Absent means the limits of the service, which cannot be exceeded."
    limits: ModelLimitsInput
    "Words by which the request is found again, 10 at most, each 1 to 64 of A-Z a-z 0-9 . _ : / -, such as team:billing."
    tags: [String!]
    """
    The client's own name for this submission, 1 to 256 characters: sent again within 24 h, it gives the same request and
    nothing is executed twice. With other arguments it is refused.
    """
    idempotencyKey: String
    """
    Longest wait for the end, in milliseconds, 0 to 30,000: the request is then given once nothing more happens to it by itself (it has ended,
    or waits for a client or operator), or as it stands when the time is over. No part of what idempotencyKey stands for.
    """
    waitMs: Int! = 0
  ): Request!

  """
  Starts a plan and returns at once. Give exactly one of the two ids; a request means its current plan.
  A plan is executed at most once. One that was started before and goes on is returned as it is, so that a client may repeat the call;
  while planning goes on, the plan starts as soon as it is made.
  Errors: NOT_FOUND, BAD_USER_INPUT, PLAN_INVALID, NEEDS_INPUT; STATE_CONFLICT for a plan that is over, paused, or being cancelled, with
  its status in extensions.status: nothing was started then.
  """
  executePlan("This version." planId: ID, "The current version of this request." requestId: ID): Request!

  """
  Asks for the end of a request's plan and returns at once. Running calls are told to stop and have 5 s for it. A request whose plan, or
  whose next version, is still being made is CANCELLED at once and gets none. Asked for again, also after the plan is CANCELLED, it is
  answered as done, so that a client may repeat it.
  Errors: NOT_FOUND, BAD_USER_INPUT, NOT_READY when planning ends at that moment; STATE_CONFLICT for a plan that ended otherwise, and
  for a request without a plan: nothing was cancelled then.
  """
  cancel("req_{unix seconds}_{random}." requestId: ID!): Request!

  """
  Answers open questions of a request that is NEEDS_INPUT, and returns at once. An answer becomes the value of the argument that its question is
  about and changes nothing else of the plan that was drafted; once no question is open the plan goes on. An answer that does not fit is refused
  with why: then none is taken, and every question stays open. A model that is answered in a sentence which is no such value plans anew with it.
  Errors: NOT_FOUND, BAD_USER_INPUT when answers are missing or too many, ANSWER_UNFIT, STATE_CONFLICT when nothing is asked.
  """
  answerQuestions(
    "req_{unix seconds}_{random}."
    requestId: ID!
    "One for each open question, in their order, at most 20,000 characters each; a label in front, as in email: a@b.com, is left out."
    answers: [String!]
    "Values for open questions by their ids, any number of them; given instead of answers."
    values: [QuestionValue!]
  ): Request!

  """
  Asks that nothing more of a request's plan starts, and returns at once. Calls under way end and are recorded; the plan is
  PAUSED when the last one has, and holds no executor. Its deadline goes on. Asked for again, it is answered as done.
  Errors: NOT_FOUND, BAD_USER_INPUT, NOT_READY while planning goes on; STATE_CONFLICT for a plan that was not started, is being
  cancelled, or is over: nothing was paused then.
  """
  pause("req_{unix seconds}_{random}." requestId: ID!): Request!

  """
  Lets a request's plan go on that is paused, or is to be paused, and returns at once.
  Errors: NOT_FOUND, BAD_USER_INPUT, NOT_READY while planning goes on; STATE_CONFLICT for any other plan, also for one that goes on
  already: nothing was resumed then.
  """
  resume("req_{unix seconds}_{random}." requestId: ID!): Request!

  """
  Says whether a step that is WAITING_APPROVAL may call its tool, and returns at once. What is approved is exactly what the
  step shows: when its arguments or the tool change before the call, nothing is called and the step fails with APPROVAL_STALE.
  A refused step fails with APPROVAL_REFUSED. The first word counts; the same word again by the same caller is answered as done.
  Errors: NOT_FOUND, BAD_USER_INPUT, APPROVAL_STALE for another hash than the step shows; STATE_CONFLICT when it does not wait, or
  when the opposite, or the same by another caller, was said before: nothing was changed then.
  """
  approve(
    "req_{unix seconds}_{random}."
    requestId: ID!
    "Id of the step; a forEach is approved as a whole."
    stepId: ID!
    "approvalHash of the step, which stands for plan, arguments and tool."
    approvalHash: String!
    "false refuses it."
    approved: Boolean! = true
    "For people, at most 1,000 characters; the error message of a refused step."
    reason: String
  ): Request!

  """
  Settles a step, or an item, that is IN_DOUBT: it is not known whether its call happened. Returns at once; an executor acts on
  it. In a plan that is over, the step gets its last state here, and retry makes it FAILED (SETTLED_AS_NOT_DONE), to be called again
  by rerun. The step tells in settled who said so.
  Errors: NOT_FOUND, BAD_USER_INPUT, STATE_CONFLICT when it is not in doubt, or was settled before.
  """
  resolveInDoubt(
    "req_{unix seconds}_{random}."
    requestId: ID!
    "key of the step or item."
    stepKey: ID!
    "completed: it happened, with this output. failed: it did not, and shall not. retry: it did not, and is called again."
    resolution: InDoubtResolution!
    "What the call gave, at most 32 KiB of JSON; for completed, where null is an output too."
    output: JSON
    "For people, at most 1,000 characters; for failed, it ends the step's error message, which names you: SETTLED_AS_FAILED."
    reason: String
    "The attempt that was looked at, from 1; refused when another one is in doubt by now. Absent means the one in doubt."
    attempt: Int
  ): Request!

  """
  Runs a plan that is over again, as a new version under the same request, and returns at once. What did not complete runs
  again; with from, that step and everything that depends on it too. Every other step is carried over with its output and is
  never called again. Of a list with failed items, also one that completed, exactly those items are called again; steps that used
  its output run again too, after an approval where that repeats a side effect. Of several reruns at once one makes a version.
  Steps that did not complete may get other arguments: the plan with them is checked as by submitPlan, and nothing is stored when it is
  not valid. A step that completed keeps its arguments, and so does one of which a call acted, or may have.
  Errors: NOT_FOUND, BAD_USER_INPUT, NOT_READY while planning goes on, PLAN_INVALID, NEEDS_INPUT; STATE_CONFLICT while the plan
  goes on, when nothing failed and from is absent, when steps are IN_DOUBT or may have acted, which extensions.steps then names, for
  other arguments of a step that completed, and for another fromVersion; IDEMPOTENCY_KEY_REUSED.
  """
  rerun(
    "req_{unix seconds}_{random}."
    requestId: ID!
    "Id of the step to begin with; absent means only what failed, was skipped or was cancelled."
    from: ID
    "Other arguments for at most 100 steps that run again; absent means those that the plan has."
    arguments: [StepArguments!]
    "Start executing at once."
    execute: Boolean! = true
    """
    The version that you have looked at, from 1: refused with STATE_CONFLICT, naming currentVersion, when another one is current by now.
    Absent means any.
    """
    fromVersion: Int
    """
    The client's own name for this wish, 1 to 256 characters: sent again within 24 h, it gives the same request and makes nothing more.
    With other arguments it is refused. Keys of rerun are its own.
    """
    idempotencyKey: String
  ): Request!

  """
  Puts another plan in the place of a request's plan that is over, or was not started, and returns at once: a new version under the same request. It is
  checked as by submitPlan, and nothing is stored when it is not valid. A plan that was not started is SUPERSEDED by it and never runs. Steps that
  stand in both plans, word for word, and that completed are carried over with their outputs and never called again; a step that is another one, or that
  uses the output of one, is called anew. Where that repeats a side effect only because of a step before it, it waits for approval. Of several at
  once one makes a version.
  Errors: NOT_FOUND, BAD_USER_INPUT, NOT_READY while planning goes on, PLAN_INVALID, NEEDS_INPUT, PLANNING_FAILED when there never was a plan;
  STATE_CONFLICT while the plan goes on, for another fromVersion, and when steps are IN_DOUBT, or may have acted and would be called in other words,
  which extensions.steps then names; IDEMPOTENCY_KEY_REUSED.
  """
  amendPlan(
    "req_{unix seconds}_{random}."
    requestId: ID!
    "The whole plan, in any accepted dialect, at most 1 MiB. Pass it as a variable: a document holds 2,000 tokens at most."
    plan: JSON!
    "Start executing at once."
    execute: Boolean! = false
    """
    The version that you have looked at, from 1: refused with STATE_CONFLICT, naming currentVersion, when another one is current by now.
    Absent means any.
    """
    fromVersion: Int
    """
    The client's own name for this wish, 1 to 256 characters: sent again within 24 h, it gives the same request and makes nothing more.
    With other arguments it is refused. Keys of amendPlan are its own.
    """
    idempotencyKey: String
  ): Amendment!

  """
  Has another version of a plan made that is over and not COMPLETED, and returns at once: the request is PLANNING. The model sees
  what became of the plan, shortened and as data. Steps that completed are carried over and never called again; steps with side
  effects that it adds or changes wait for approval, unless both the policy replannedEffects of the plan and the planner's setting
  REPLANNED_EFFECTS say run (approve is the default of both). Without a new version the request gets its status back and says why
  in error: REPLAN_UNCHANGED for a plan that was tried before, MODEL_REQUIRED where the planner has no model, PLAN_INVALID,
  NOT_PLANNABLE, or the model's own trouble.
  Errors: NOT_FOUND, BAD_USER_INPUT, NOT_READY while planning goes on, PLAN_INVALID, NEEDS_INPUT; STATE_CONFLICT while the plan
  goes on, when it COMPLETED, after 20 replans of one request, when no planner that lives has a model, for another fromVersion, and when steps are
  IN_DOUBT, which extensions.steps then names; IDEMPOTENCY_KEY_REUSED.
  """
  replan(
    "req_{unix seconds}_{random}."
    requestId: ID!
    "What is to be done differently, at most 1,000 characters; the model reads it beside the query."
    note: String
    "Start executing the new version as soon as it is stored."
    execute: Boolean! = true
    """
    The version that you have looked at, from 1: refused with STATE_CONFLICT, naming currentVersion, when another one is current by now.
    Absent means any.
    """
    fromVersion: Int
    """
    The client's own name for this wish, 1 to 256 characters: sent again within 24 h, it gives the same request and makes nothing more.
    With other arguments it is refused. Keys of replan are its own.
    """
    idempotencyKey: String
  ): Request!

  """
  Plans a sentence and waits for the plan, 60 s at most; starts nothing.
  Errors: BAD_USER_INPUT, POLICY_INVALID, PLAN_INVALID, NEEDS_INPUT, TIMEOUT, IDEMPOTENCY_KEY_REUSED, or the planner's own code.
  """
  createPlanWithRequestId(
    "What is to be done, in plain words, 1 to 10,000 characters."
    query: String!
    "As for createPlan."
    context: ContextInput
    "As for createPlan."
    profile: String
    "As for createPlan."
    policy: JSON
    "As for createPlan."
    idempotencyKey: String
  ): Plan!

  """
  The same as createPlanWithRequestId, under an older name.
  Errors: BAD_USER_INPUT, POLICY_INVALID, PLAN_INVALID, NEEDS_INPUT, TIMEOUT, IDEMPOTENCY_KEY_REUSED, or the planner's own code.
  """
  createPlanWithWorkflow(
    "What is to be done, in plain words, 1 to 10,000 characters."
    query: String!
    "As for createPlan."
    context: ContextInput
    "As for createPlan."
    profile: String
    "As for createPlan."
    policy: JSON
    "As for createPlan."
    idempotencyKey: String
  ): Plan!

  """
  Executes a request's plan and waits for its end, 30 s at most. Still running then: executionState is "in-progress",
  and a later call waits on. Calling it again never executes again.
  Errors: NOT_FOUND, BAD_USER_INPUT, PLAN_INVALID, NEEDS_INPUT, TIMEOUT when there is no plan after 30 s.
  """
  executeByRequestId("req_{unix seconds}_{random}." requestId: ID!): Execution!
}

"""
Over WebSocket (graphql-transport-ws) at /graphql, or as server-sent events from /graphql/stream.
"""
type Subscription {
  """
  A request as it is now, then each newer state, and the end once it is over. States that come faster than they are read are
  skipped, never the last. After a lost connection, subscribe again: the first answer is the state of then.
  Errors: NOT_FOUND, BAD_USER_INPUT, OVERLOADED; UNAUTHENTICATED as the last result when the API key or token of the subscriber is
  revoked or expires meanwhile.
  """
  requestUpdated("req_{unix seconds}_{random}." requestId: ID!): Request!

  """
  What changes of the requests that fit a filter, for those who show a list of them. The first event is READ_LIST: from then on no change is
  missed, so read the list with requests(filter) when it comes, and apply what follows to that. Several changes of a request within a moment are
  told as one, with its newest state. It goes on until it is left; after a lost connection, subscribe again and read the list at READ_LIST.
  Requests that are removed because they ended long ago are not told.
  Errors: BAD_USER_INPUT for a filter that contradicts itself, OVERLOADED; UNAUTHENTICATED as the last result when the API key or token of the
  subscriber is revoked or expires meanwhile.
  """
  requestsUpdated(
    "Only requests that fit everything in it, as in requests; absent means all."
    filter: RequestFilter
  ): RequestChange!
}

"""
What changed of a list of requests.
"""
type RequestChange {
  "What to do with the list."
  kind: RequestChangeKind!
  "The request that changed; null for READ_LIST."
  requestId: ID
  "As it is now, for CHANGED; otherwise null."
  request: Request
}

"""
What to do with a list of requests of which something changed.
"""
enum RequestChangeKind {
  "Read the list, or read it again: what changed before may not have been told. It comes first, and after changes were missed."
  READ_LIST
  "The request is new or has changed, and fits the filter: show it as it is now."
  CHANGED
  "The request does not fit the filter any more: take it from the list. It may come for one that was never in it, and means nothing then."
  LEFT
}

"""
Where a request stands.
"""
enum RequestStatus {
  "The plan is being made."
  PLANNING
  "The planner asks something back: see questions."
  NEEDS_INPUT
  "The plan is stored; its execution was not asked for yet."
  READY
  "The plan is queued or running."
  EXECUTING
  "Every step that had to be done is done."
  COMPLETED
  "Some requested outputs are there, some are not; or items of a list failed."
  PARTIAL
  "Planning or execution failed: see error and plan.error."
  FAILED
  "Ended because someone asked for it."
  CANCELLED
}

"""
Now and here, where a request comes from. It is fixed when the request is accepted: repairs and later versions of its plan see the same.
"""
input ContextInput {
  "What today and in two hours are counted from; absent means when the request was accepted."
  now: DateTime
  "Where days begin and clocks are read, by its IANA name such as Europe/Berlin; absent means UTC."
  timezone: String
  "Language and region of the caller as a BCP 47 tag, such as de-DE."
  locale: String
  """
  What is known of the caller and need not be said each time, such as ids and defaults: an object of its own, at most 16 KiB. Models
  see it as data, and take values from it as from the query; what looks like a credential is kept from them.
  """
  facts: JSON
}

"""
Which requests are wanted. What is absent or null leaves nothing out.
"""
input RequestFilter {
  "In one of these states; an empty list means all."
  status: [RequestStatus!]
  "A version of the plan uses this tool: its name, or server/tool where the plan says so."
  tool: String
  """
  Planning, the last replan, or a version of the plan failed with this code, such as TOOL_TIMEOUT. With tool: a version that uses the
  tool failed so.
  """
  errorCode: String
  "It was given this tag."
  tag: String
  "The sentence contains this text, 1 to 200 characters, whatever the case of the letters; no character in it means anything else."
  text: String
  "Created then or later."
  createdFrom: DateTime
  "Created earlier."
  createdBefore: DateTime
  "It waits for a person, who is to do this."
  needs: RequestNeed
}

"""
What only people can do for a request.
"""
enum RequestNeed {
  "A step waits for an approval."
  APPROVAL
  "Whether a call of a step happened is not known, and no tool can tell; also of a plan that is over."
  DOUBT
  "The planner asks something."
  ANSWER
}

"""
Order of a list of requests by the time when they were created; with a filter by tool, errorCode, or an approval or doubt that it needs to the second.
"""
enum RequestOrder {
  "The last one first."
  NEWEST_FIRST
  "The first one first."
  OLDEST_FIRST
}

"""
Which steps and items of a plan are wanted. What is absent or null leaves nothing out.
"""
input StepFilter {
  "In one of these states; an empty list means all."
  status: [StepStatus!]
  "This step and its items; nothing when the plan has no such step."
  stepId: ID
  "true: items of forEach steps alone; false: steps alone."
  items: Boolean
}

"""
Where a plan stands. INVALID, COMPLETED, PARTIAL, FAILED, CANCELLED, EXPIRED and SUPERSEDED never change again.
"""
enum PlanStatus {
  "Stored with its diagnostics; can never run."
  INVALID
  "May be started."
  READY
  "Waits for an executor."
  QUEUED
  "An executor holds it."
  RUNNING
  "Nothing can be done right now, and no executor holds it: see waitReason."
  WAITING
  "Stopped by an operator until resumed."
  PAUSED
  "Its end was asked for; running calls are being stopped."
  CANCELLING
  "Every step that had to be done is done."
  COMPLETED
  "Some requested outputs are there, some are not; or items of a list failed."
  PARTIAL
  "Ended by a failed step: see error."
  FAILED
  "Ended because someone asked for it."
  CANCELLED
  "Its deadline passed."
  EXPIRED
  "Replaced by a newer version before it started."
  SUPERSEDED
}

"""
Where a step, or one item of a forEach step, stands.
"""
enum StepStatus {
  "Not started: see waitReason."
  PENDING
  "An operator must approve its call."
  WAITING_APPROVAL
  "Its call is under way."
  RUNNING
  "An attempt failed and another one follows."
  RETRYING
  "Done: see output."
  COMPLETED
  "Failed for good: see error."
  FAILED
  "Never started: see error for the reason."
  SKIPPED
  "It is not known whether its call had an effect; an operator must say: resolveInDoubt."
  IN_DOUBT
  "Ended because someone asked for it."
  CANCELLED
}

"""
What became of a call of which it was not known.
"""
enum InDoubtResolution {
  "It happened."
  completed
  "It did not happen, or failed, and is not called again."
  failed
  "It did not happen, and is called again."
  retry
}

"""
How much a finding about a plan weighs.
"""
enum DiagnosticSeverity {
  "Keeps the plan from running."
  error
  "Worth knowing; the plan may run."
  warning
}

"""
What a user asked, with everything done for it.
"""
type Request {
  "The same as requestId."
  id: ID!
  "req_{unix seconds}_{random}."
  requestId: ID!
  "Id of the current plan. Fixed from the start: plan is null until it has been made. A rerun or replan is a new plan."
  planId: ID!
  "Where the request stands."
  status: RequestStatus!
  "The status in one of four words: pending, in-progress, completed, failed."
  executionState: String!
  "query: a sentence to plan; plan: a plan given as JSON."
  source: String!
  "The sentence; null when a plan was submitted without one."
  query: String
  "What it was tagged with, each once."
  tags: [String!]!
  "Now and here, as it holds for everything that is done for the request."
  context: RequestContext!
  "What was asked for of the plan's policy, its profile included; null when nothing was. The plan's own policy is complete."
  policy: JSON
  "Version of the current plan, from 1."
  version: Int!
  "True when the plan starts as soon as it is stored."
  autoExecute: Boolean!
  "Why planning failed, or the last replan; how execution failed is told by plan.error."
  error: Problem
  "Everything found about the plan while it was made or submitted."
  diagnostics: [Diagnostic!]!
  "What the planner must know before it can go on, when NEEDS_INPUT."
  questions: [String!]!
  "The same with what each is about, in the same order."
  openQuestions: [OpenQuestion!]!
  "What the user answered so far, oldest first."
  answers: [Answer!]!
  "How often a failed plan is made anew without being asked for."
  maxReplans: Int!
  "How often it was made anew, asked for or not."
  replans: Int!
  "True when an answer in words was asked for."
  answerRequested: Boolean!
  "The results in words, at most 20,000 characters; null until they are told."
  answer: String
  "Why there is no answer, though one was asked for."
  answerError: Problem
  "Why planning waits for a planner: no worker when none is known to live, limit when all are busy; otherwise null."
  waitReason: String
  "The current plan; null until it has been made."
  plan: Plan
  "All versions of the plan, newest first, at once."
  plans: [Plan!]!
  """
  The same list in pages: a plan may be run again any number of times.
  Errors: BAD_USER_INPUT for a page size outside 1 to 100, or a cursor that was never given out for such a list.
  """
  plansConnection(
    "Versions on one page, 1 to 100."
    first: Int! = 20
    "Goes on after this cursor; absent starts at the newest version."
    after: String
  ): PlanConnection!
  "Every call of a chat model made for this request, failed tries included, oldest first."
  modelCalls: [ModelCall!]!
  """
  The same list in pages. Prompts and answers may be long.
  Errors: BAD_USER_INPUT for a page size outside 1 to 100, or a cursor that was never given out for such a list.
  """
  modelCallsConnection(
    "Calls on one page, 1 to 100."
    first: Int! = 20
    "Goes on after this cursor; absent starts at the oldest call."
    after: String
  ): ModelCallConnection!
  "The last entry of its journal, to be used with requestAt; 0 before the first one."
  seq: Int!
  """
  What happened to the request and its plans, event by event, in the order of its journal.
  Errors: BAD_USER_INPUT for a page size outside 1 to 100, or a cursor that was never given out for such a list.
  """
  events(
    "Events on one page, 1 to 100."
    first: Int! = 50
    "Goes on after this cursor; absent starts at the first event."
    after: String
  ): JournalEventConnection!
  "What the calls of models may take, and took."
  modelUse: ModelUse!
  "When it was accepted."
  createdAt: DateTime!
  "When anything of it was last written."
  updatedAt: DateTime!
  "When a planner first took it, or took it for the last replan; null before."
  planningStartedAt: DateTime
  "When planning ended, with a plan or without; null while it goes on."
  planningFinishedAt: DateTime
}

"""
Now and here, where a request comes from.
"""
type RequestContext {
  "What today and in two hours are counted from."
  now: DateTime!
  "IANA name of the time zone."
  timezone: String!
  "BCP 47 tag; null when it was not given."
  locale: String
  "The caller's own data, as it was given; empty when none was."
  facts: JSON!
}

"""
A question of the planner that has no answer yet. Its answer becomes the value of one argument of one step, and changes nothing else of the plan
that was drafted.
"""
type OpenQuestion {
  "Stable, and never given to another question of the request."
  id: ID!
  "For people."
  question: String!
  "The step whose argument is asked for; null for a question in a model's own words that names none."
  stepId: ID
  "The tool of that step."
  tool: String
  "The argument, such as email or authors[0].email."
  parameter: String
  "JSON Schema of the value; null where the tool declares none."
  schema: JSON
}

"""
Other arguments for one step of a rerun.
"""
input StepArguments {
  "Id of a step that did not complete."
  stepId: ID!
  "The arguments that change, by name, with references as in a plan; those that are not named stay. Of a list: those of each call."
  set: JSON!
}

"""
The value for one open question.
"""
input QuestionValue {
  "Id of the question."
  questionId: ID!
  "What fits its schema."
  value: JSON!
}

"""
An answer of the user to a question of the planner.
"""
type Answer {
  "Id of the question."
  questionId: ID!
  "The step whose argument was asked for; null where it was none."
  stepId: ID
  "The argument."
  parameter: String
  "The value that the answer gives it."
  value: JSON
  "As the planner asked it."
  question: String!
  "As the user gave it."
  answer: String!
  "When it was given."
  at: DateTime!
}

"""
One immutable version of a plan, and how far it is.
"""
type Plan {
  "The same as planId."
  id: ID!
  "plan_{unix seconds}_{random}."
  planId: ID!
  "The request that it was made for."
  requestId: ID!
  "The request that it was made for."
  request: Request!
  "The sentence it was made for; empty when it was submitted without one."
  query: String!
  "From 1; a rerun, replan or edit is a new version."
  version: Int!
  "Where the plan stands."
  status: PlanStatus!
  "The status in one of four words: pending, in-progress, completed, failed."
  executionState: String!
  "Who made the plan."
  origin: PlanOrigin!
  "The plan in its one canonical form, references as written; null when the submission could not be read as a plan."
  document: JSON
  "The answer of the model, or the submission, as it came."
  raw: String
  "Everything found about this version while it was made or submitted."
  diagnostics: [Diagnostic!]!
  """
  Steps in plan order, each followed by the items of its forEach that have begun, all at once: up to 1,000 steps, and up to 10,000
  items for each list. Empty for an INVALID plan. stepsConnection gives the same in pages.
  """
  steps: [Step!]!
  """
  The same list in pages. Where it grows meanwhile, what begins before the cursor is on none of the later pages.
  A page may hold fewer than asked for although pageInfo.hasNextPage says that more follow: a filter by status goes through 10,000 at once.
  Errors: BAD_USER_INPUT for a page size outside 1 to 100, or a cursor that was never given out for such a list.
  """
  stepsConnection(
    "Steps and items on one page, 1 to 100."
    first: Int! = 20
    "Goes on after this cursor; absent starts at the first step."
    after: String
    "Only those that fit everything in it."
    filter: StepFilter
  ): StepConnection!
  "Its steps by status."
  counts: StepCounts!
  """
  Outputs by step id, the requested ones or all, when the plan is over. In the place of one that is too large stands
  { ref, sizeBytes, preview }: outputReferences names those.
  """
  outputs: JSON
  "The outputs that stand in outputs by reference, in its order."
  outputReferences: [NamedOutputReference!]!
  "Why the plan failed."
  error: StepError
  "Why the whole plan waits: paused, no worker, approval, backoff, limit, in doubt; null while it runs or is over."
  waitReason: String
  "The executor that holds the plan now."
  executor: String
  "Times that executors have claimed the plan."
  epoch: Int!
  "When it was stored."
  createdAt: DateTime!
  "When its execution was asked for; null before."
  queuedAt: DateTime
  "When an executor first took it; null before."
  startedAt: DateTime
  "When it was over; null before."
  finishedAt: DateTime
  "When it was last written; its steps have times of their own."
  updatedAt: DateTime!
  "From the start to the end, or until now, in milliseconds; null before the start."
  durationMs: Float
  "What operators said of steps that needed approval, oldest first."
  approvals: [Approval!]!
  "What operators said of steps that were in doubt, oldest first."
  resolutions: [Resolution!]!
  "When its end was asked for; null when it was not. Set, and finishedAt null: it waits for calls that are being stopped."
  cancelRequestedAt: DateTime
  "Set while the plan is paused, or to be paused: while its status is not PAUSED, calls under way are waited for."
  pauseRequestedAt: DateTime
  "When it ends as EXPIRED at the latest; null before the start."
  deadlineAt: DateTime
  "The canonical plan as JSON text. Of the older API; document is the same as JSON."
  plan: String!
  "The steps in the shape of the older API."
  selectedTools: [SelectedTool!]!
  "Tools in the order in which their steps can run. Of the older API."
  toolOrder: [String!]!
  "The results of the steps as JSON text, null until the plan is over. Of the older API."
  executionResults: String
  "The diagnostics as JSON text. Of the older API."
  validationResult: String!
}

"""
Who made a plan.
"""
type PlanOrigin {
  "model, offline or submitted."
  kind: String!
  "Name of the model, such as openai:gpt-4o; null without one."
  model: String
}

"""
One tool call of a plan, or one item of a forEach step.
"""
type Step {
  "Name of the step inside its plan, such as createAuthor. The items of a forEach share it."
  id: ID!
  "Unique inside the plan: the step's id, with [index] for an item of a forEach."
  key: String!
  "Position in the list, for an item of a forEach."
  item: Int
  "Name of the tool in the plan: its own, or server/tool."
  tool: String!
  "Where the step stands."
  status: StepStatus!
  "Steps that must be final first: the ones named by the plan and the ones referred to."
  dependsOn: [ID!]!
  "As planned, with references such as <<createAuthor._id>>, and not redacted: secrets are named as secret://name."
  arguments: JSON!
  "As sent to the tool in the latest attempt, or as they would be sent, while WAITING_APPROVAL (of a forEach { calls: { key: arguments } }); null before, and for those over 32 KiB."
  resolvedArguments: JSON
  "What is kept of arguments over 32 KiB."
  resolvedArgumentsPreview: ArgumentsPreview
  """
  What the step keeps of the tool's result, not redacted but for secrets put in by name; null until COMPLETED. In the place of one that is too
  large stands { ref, sizeBytes, preview }: outputReference is the same, and null for an output that stands here itself.
  """
  output: JSON
  "What stands in output, where the output itself is too large for it, or the answer has no room for it."
  outputReference: OutputReference
  "Why it failed, was skipped, or is in doubt."
  error: StepError
  "What an operator said of it while it was in doubt: output or error are then the operator's word, not the tool's. Null where the tool said so itself."
  settled: Settlement
  "Hash of plan, step, arguments and tool that approve takes; null for a step that has not had to ask."
  approvalHash: String
  "True once an operator approved it."
  approved: Boolean!
  "The plan that executed it, for a step that was carried over from an earlier version."
  carriedFrom: ID
  "What did not keep it from running, such as a reference that was kept as text."
  warnings: [String!]!
  "Why it has not started: dependency, limit, backoff, approval, in doubt, paused, no worker. Null while it runs and when it is over. A plan that was not started counts as paused."
  waitReason: String
  "K, R, V or U: what may be done with a call whose fate is unknown."
  effectClass: String
  "Its tries, oldest first."
  attempts: [Attempt!]!
  "When the next attempt is due, while RETRYING."
  nextAttemptAt: DateTime
  "When its first attempt began; null before."
  startedAt: DateTime
  "When it was over; null before."
  finishedAt: DateTime
  "From the start of the first attempt to the end of the last, in milliseconds."
  durationMs: Float
}

"""
Stands for an output that is too large for an answer: over 64 KiB unless the service is set otherwise, or one of very many.
"""
type OutputReference {
  "Read the output with output(ref), or GET /outputs/{ref}."
  ref: ID!
  "Size as JSON in UTF-8; null where it is not known before the output is read."
  sizeBytes: Int
  "The first KiB of the JSON; null where it is not at hand."
  preview: String
}

"""
An output of a plan that stands there by reference.
"""
type NamedOutputReference {
  "Id of the step, or name of the part."
  name: String!
  "Read the output with output(ref), or GET /outputs/{ref}."
  ref: ID!
  "Size as JSON in UTF-8; null where it is not known before the output is read."
  sizeBytes: Int
  "The first KiB of the JSON; null where it is not at hand."
  preview: String
}

"""
A part of the JSON text of an output.
"""
type OutputPage {
  "That of the output."
  ref: ID!
  "Size of the whole as JSON in UTF-8."
  sizeBytes: Int!
  "From the first byte asked for to the end of a character."
  text: String!
  "Where the next part begins; null when this is the last one."
  nextOffset: Int
}

"""
What is kept of arguments that are too large to be kept.
"""
type ArgumentsPreview {
  "Size as JSON in UTF-8."
  sizeBytes: Int!
  "SHA-256 of the JSON, in hexadecimal: the same for each attempt."
  hash: String!
  "The first KiB of the JSON."
  text: String!
}

"""
What an operator said of a step that needed approval.
"""
type Approval {
  "The step that waited."
  stepId: ID!
  "False when it was refused."
  approved: Boolean!
  "What was approved or refused: plan, step, arguments and tool."
  approvalHash: String!
  "For people; null without one."
  reason: String
  "Who said so: the name of an API key, the subject of a token, or anonymous."
  by: String!
  "When it was said."
  at: DateTime!
}

"""
What an operator said of a step, or an item, that was in doubt.
"""
type Resolution {
  "key of the step or item."
  stepKey: ID!
  "The attempt that was in doubt, from 1."
  attempt: Int!
  "What became of the call."
  resolution: InDoubtResolution!
  "Who said so: the name of an API key, the subject of a token, or anonymous."
  by: String!
  "When it was said."
  at: DateTime!
}

"""
The word of an operator by which a step, or an item, stands as it does.
"""
type Settlement {
  "What became of the call."
  resolution: InDoubtResolution!
  "Who said so: the name of an API key, the subject of a token, or anonymous."
  by: String!
  "When it was said."
  at: DateTime
}

"""
One try of a step.
"""
type Attempt {
  "From 1."
  attempt: Int!
  "Stands in the logs and traces of the executor."
  attemptId: ID!
  "The executor that made it."
  executor: String!
  "When its intent was recorded, before the call."
  startedAt: DateTime!
  "When the call had ended; null while it is under way, and when its executor died."
  endedAt: DateTime
  "Measured by the executor, in milliseconds."
  durationMs: Float
  "completed, failed, aborted or unknown; null while it is under way."
  outcome: String
  "Why it failed; null when it did not."
  error: StepError
  "Present when nothing was sent, since the tool's server could not be reached; null: the call was sent."
  unsent: UnsentTries
}

"""
Tries in a row that found the tool's server away; they are one attempt, and none of those that maxAttempts counts.
"""
type UnsentTries {
  "From 1."
  tries: Int!
  "When the first of them ended."
  since: DateTime!
}

"""
Why a step or a plan failed.
"""
type StepError {
  "Decide by this, such as TOOL_TIMEOUT."
  code: String!
  "For people."
  message: String!
  "True when the same call may succeed later."
  retryable: Boolean!
  "What the code means and what to do, for people."
  remedy: String!
  "What else the tool or the engine said of it; null without it."
  data: JSON
}

"""
Why planning failed.
"""
type Problem {
  "Decide by this, such as NOT_UNDERSTOOD."
  code: String!
  "For people."
  message: String!
  "What the code means and what to do, for people."
  remedy: String!
}

"""
Steps of a plan by status. The items of a forEach are not counted.
"""
type StepCounts {
  "Steps of the plan."
  total: Int!
  "Done."
  completed: Int!
  "Failed for good."
  failed: Int!
  "Never started, because of a failure or a condition."
  skipped: Int!
  "Ended because someone asked for it."
  cancelled: Int!
  "It is not known whether their calls had an effect."
  inDoubt: Int!
  "Begun and not over."
  running: Int!
  "Not begun."
  pending: Int!
}

"""
One finding about a plan.
"""
type Diagnostic {
  "Decide by this, such as TOOL_UNKNOWN."
  code: String!
  "How much it weighs."
  severity: DiagnosticSeverity!
  "The step that it is about; null when it is about the whole plan."
  stepId: ID
  "Place in the plan document, such as steps[2].arguments.authorId."
  path: String
  "What is wrong, where, and what to do."
  message: String!
  "The nearest valid choice."
  suggestion: String
}

"""
What is known of a plan before it is submitted.
"""
type PlanValidation {
  "True when submitPlan would accept the plan now."
  valid: Boolean!
  "The plan in canonical form; null when it cannot be read or is invalid."
  plan: JSON
  "Every finding, errors and warnings."
  diagnostics: [Diagnostic!]!
}

"""
A server of tools, as an executor last saw it.
"""
type ToolServer {
  "Its name in the executors' servers file."
  name: String!
  "Where the connection stands."
  state: ToolServerState!
  "How many tools it offered last; those of an unreachable server stay in the catalogue."
  tools: Int!
  "Why it is unreachable; null otherwise."
  error: String
  """
  The last lines that its process wrote to its standard error while it was not connected, at most 2,000 characters, without control
  characters and without secrets that are known. Null where there are none, and for callers without the scope operate.
  """
  lastWords: String
  "Since when it is connected, or is not."
  since: DateTime!
  "When it is tried again; null while it is connected, or is just being tried."
  nextAttemptAt: DateTime
}

"""
Where the connection to a tool server stands.
"""
enum ToolServerState {
  "Its tools can be called."
  CONNECTED
  "It is being connected to for the first time."
  CONNECTING
  "It did not come up, or is gone; it is tried again by itself."
  UNREACHABLE
}

"""
A tool that plans may use.
"""
type Tool {
  "Name in plans: the server's own, or server/tool where two servers offer the same one."
  name: String!
  "Server that offers it."
  server: String!
  "For people; null where the server gives none."
  title: String
  "What the server says of it; empty where it says nothing."
  description: String!
  "As declared by the tool; otherwise its server's name."
  category: String!
  "JSON Schema of the arguments."
  inputSchema: JSON!
  "The same, as it is called where functions are declared."
  parameters: JSON!
  "JSON Schema of the structured output."
  outputSchema: JSON
  "What the caller's own runs have shown of its outputs, where no schema says it all; null before the first of them."
  observedOutput: ObservedOutput
  "Hints of the server, such as readOnlyHint."
  annotations: JSON
  "What the tool is held to promise about parallelism, order, repeats and errors."
  contract: JSON!
  "The same field by field: what is believed, and why."
  contractReport: ContractReport!
}

"""
What a tool is held to promise, with the reasons.
"""
type ContractReport {
  "In a fixed order; optional fields without a value are left out."
  fields: [ContractField!]!
  "Declarations that cannot be read, a sentence each."
  problems: [String!]!
}

"""
One field of a contract.
"""
type ContractField {
  "As it is called in contract."
  name: String!
  "The value that holds."
  value: JSON!
  "override (the operator), meta, top-level, inputSchema, annotations (all of them the server's words), or default."
  source: String!
  "In words, such as: readOnlyHint of server shop, believed."
  why: String!
}

"""
What outputs of a tool looked like so far: names and types, never values. It promises nothing.
"""
type ObservedOutput {
  "Outputs that were looked at since the tool last changed."
  outputs: Int!
  "JSON Schema of them: required is what was there each time, x-seen says how often a place was there."
  schema: JSON!
}

"""
One call of a chat model.
"""
type ModelCall {
  "Unique over all requests."
  id: ID!
  "draft, repair, fast-path, replan or answer."
  purpose: String!
  "provider:model, or offline."
  model: String!
  "What was sent, without secrets; long texts are cut."
  messages: [ModelMessage!]!
  "What came back, without secrets; empty when nothing did."
  answer: String!
  "Why the model stopped, in the words of the provider; null when it did not say."
  finishReason: String
  "As the provider counted them; null when it did not."
  inputTokens: Int
  "As the provider counted them; null when it did not."
  outputTokens: Int
  "Those of inputTokens that the provider had from an earlier call."
  cachedInputTokens: Int
  "From sending to the last word, in milliseconds."
  latencyMs: Float!
  "Null when the price of the model is not known."
  costUsd: Float
  "priced: by the provider's count; estimated: by ours; unpriced: the price is not known; none: no call of a model."
  pricing: String!
  "Try of this model for the same answer, from 1."
  attempt: Int!
  "Code of the failure for which the fallback model was asked; null for the first model."
  fallbackFor: String
  "What was set aside before the call; null where no limit is kept."
  reserved: ModelSpending
  "What the call counts for; null until it has ended."
  spent: ModelSpending
  "Why it failed; null when it did not."
  error: Problem
  "When it was sent."
  createdAt: DateTime!
  "Null while the call is under way, and for good when its planner died: it then counts for what was set aside."
  endedAt: DateTime
}

"""
Most that the calls of models for one request may take. A call that might exceed it is not made: the request ends with
BUDGET_EXCEEDED, which names the limit, what was used, and what to do.
"""
input ModelLimitsInput {
  "Calls that were answered, or may have been."
  maxModelCalls: Int
  "Tokens of prompts and answers."
  maxTokens: Int
  "US dollars. Models of unknown price are then not called: MODEL_UNPRICED."
  maxCostUsd: Float
}

"""
Most that the calls of models for one request may take; null: no limit.
"""
type ModelLimits {
  "Calls that were answered, or may have been."
  maxModelCalls: Int
  "Tokens of prompts and answers."
  maxTokens: Int
  "US dollars."
  maxCostUsd: Float
}

"""
What calls of models took, or may take.
"""
type ModelSpending {
  "Calls that were answered, or may have been."
  modelCalls: Int!
  "Tokens of prompts and answers."
  tokens: Int!
  "Of models whose price is known."
  costUsd: Float!
}

"""
Where a request stands with its limits.
"""
type ModelUse {
  "Most that they may take."
  limits: ModelLimits!
  "By calls that have ended."
  spent: ModelSpending!
  "Set aside for calls under way, and for calls whose planner died."
  reserved: ModelSpending!
}

"""
One message of a model call.
"""
type ModelMessage {
  "system, user or assistant."
  role: String!
  "Its text."
  content: String!
}

"""
One page of requests.
"""
type RequestConnection {
  "The requests of the page with their cursors."
  edges: [RequestEdge!]!
  "The requests of the page, without their cursors."
  nodes: [Request!]!
  "Where the page begins and ends."
  pageInfo: PageInfo!
}

"""
One request on a page.
"""
type RequestEdge {
  "Opaque: give it as after to go on behind this request."
  cursor: String!
  "The request."
  node: Request!
}

"""
One page of the steps and items of a plan.
"""
type StepConnection {
  "The steps and items of the page with their cursors."
  edges: [StepEdge!]!
  "The steps and items of the page, without their cursors."
  nodes: [Step!]!
  "Where the page begins and ends."
  pageInfo: PageInfo!
  "How many fit, on all pages; counted when it is asked for."
  totalCount: Int!
}

"""
One step or item on a page.
"""
type StepEdge {
  "Opaque: give it as after to go on behind this step or item."
  cursor: String!
  "The step or item."
  node: Step!
}

"""
One page of the versions of a plan.
"""
type PlanConnection {
  "The versions of the page with their cursors."
  edges: [PlanEdge!]!
  "The versions of the page, without their cursors."
  nodes: [Plan!]!
  "Where the page begins and ends."
  pageInfo: PageInfo!
}

"""
One version on a page.
"""
type PlanEdge {
  "Opaque: give it as after to go on behind this version."
  cursor: String!
  "The version."
  node: Plan!
}

"""
One page of the calls of models for a request.
"""
type ModelCallConnection {
  "The calls of the page with their cursors."
  edges: [ModelCallEdge!]!
  "The calls of the page, without their cursors."
  nodes: [ModelCall!]!
  "Where the page begins and ends."
  pageInfo: PageInfo!
}

"""
One call on a page.
"""
type ModelCallEdge {
  "Opaque: give it as after to go on behind this call."
  cursor: String!
  "The call."
  node: ModelCall!
}

"""
One page of what happened to a request.
"""
type JournalEventConnection {
  "The events of the page with their cursors."
  edges: [JournalEventEdge!]!
  "The events of the page, without their cursors."
  nodes: [JournalEvent!]!
  "Where the page begins and ends."
  pageInfo: PageInfo!
}

"""
One event on a page.
"""
type JournalEventEdge {
  "Opaque: give it as after to go on behind this event."
  cursor: String!
  "The event."
  node: JournalEvent!
}

"""
One thing that happened to a request, as its journal tells it. The journal of a sentence begins when a planner takes it; that of a submitted plan
when an executor takes the plan, or when a client asks something of it. Outputs and arguments are not told here, only their sizes: read them with the
steps. Nor is what models were asked and answered, see modelCalls; nor what users answered, see answers.
"""
type JournalEvent {
  "Unique over all requests."
  id: ID!
  "The entry that tells it, from 1; the entries of a request follow each other without a gap."
  seq: Int!
  "Its place in the entry, from 0. The events of one entry became true together, and happened in this order."
  position: Int!
  "When the entry was made."
  at: DateTime!
  "Who made the entry."
  by: JournalWriter!
  "The version of the plan that it is about; for planning the one that was current then, which may not be stored yet."
  planId: ID!
  """
  What happened: planning.began, model.called, model.answered, question.asked, answer.given, execution.planned, replan.asked, planning.failed,
  planning.cancelled, results.told, plan.stored, execution.asked, lease.taken, lease.released, attempt.started, attempt.ended, items.expanded,
  step.changed, approval.given, doubt.resolved, cancel.asked, pause.asked, resume.asked, or plan.ended. Later versions may tell of more.
  """
  type: String!
  "The step that it is about; null when it is about the whole plan, or about planning."
  stepId: ID
  "key of the step or item; null when it is about the whole plan, or about several items: facts.units names those."
  key: ID
  "Of a call, or of a doubt that is settled: which attempt of the step, from 1. Otherwise null."
  attempt: Int
  "Where the step stands since then, or the plan; null for an event that is no change of a status."
  status: String
  "Why the step or the call failed, the plan, or planning; null when it did not. Its data is null here: read it with the step."
  error: StepError
  "Why the step or the plan waits, or what an operator gave as the reason of an approval; null without one."
  reason: String
  """
  What else is known of it, by type. Lists hold 100 at most; their lengths are beside them. Sizes are in bytes of JSON.
  plan.stored: version, isValid, carried, carriedCount, settled, settledCount, unanswered, unansweredCount. lease.taken: worker, epoch, from.
  lease.released: dueAt. attempt.started: attemptId, units, unitsCount, tool, effectClass, mayAct, isLookup, argsHash, argumentsBytes, startedAt.
  attempt.ended: attemptId, units, unitsCount, outcome, endedAt, durationMs, isUnsent. items.expanded: count. step.changed: outputBytes,
  isOutputAside, warnings, warningsCount, nextAttemptAt, mayHaveActed, approved, settled, approvalHash, argumentsBytes.
  approval.given: approved, approvalHash. doubt.resolved: resolution. planning.began: worker, epoch, work, from.
  model.called: callId, purpose, model, reserved. model.answered: callId, spent. question.asked: questions, questionsCount.
  answer.given: questionIds, questionIdsCount, givesUpDraft. replan.asked: note, execute. Of a question or a note 200 characters are told.
  """
  facts: JSON!
}

"""
What the journal of a request told at one of its entries.
"""
type RequestAt {
  "The request."
  requestId: ID!
  "The last entry that counts; 0: none."
  seq: Int!
  "When that entry was made; null for none."
  at: DateTime
  "The version that was current then; null before the journal tells of one."
  plan: PlanAt
}

"A plan that was put in the place of another one, and what becomes of what had completed. The lists are null where its key made the version before."
type Amendment {
  "The request, with its new version."
  request: Request!
  "Ids of steps that completed and are carried over with their outputs: they are never called again."
  carried: [ID!]
  "Of steps with side effects that completed: those that are called again, since they are others, or use what is another one."
  repeated: [ID!]
  "And those that are not: what they did stays as it is."
  notRepeated: [ID!]
}

"""
One version of a plan as the journal of its request told it at one of its entries. What never changes, such as document, is read with plan(id).
"""
type PlanAt {
  "plan_{unix seconds}_{random}."
  planId: ID!
  "From 1."
  version: Int!
  "Where it stood; null before an entry tells that it was started: that of executePlan is told with the entry that follows it."
  status: PlanStatus
  "Why it failed; its data is null here."
  error: StepError
  "Its steps by status."
  counts: StepCounts!
  "Steps in plan order, each followed by the items of its forEach that were known, all at once: filter makes them few."
  steps("Only those that fit everything in it." filter: StepFilter): [StepAt!]!
  "When the first entry of an executor was made; null before."
  startedAt: DateTime
  "When the entry of its end was made; null before."
  finishedAt: DateTime
}

"""
A step, or one item of a forEach step, as the journal told it at one of its entries. Outputs and arguments are read with the steps of the plan: the
output of one that is COMPLETED never changes.
"""
type StepAt {
  "Name of the step inside its plan. The items of a forEach share it."
  id: ID!
  "Unique inside the plan: the step's id, with [index] for an item of a forEach."
  key: String!
  "Position in the list, for an item of a forEach."
  item: Int
  "Name of the tool in the plan: its own, or server/tool."
  tool: String!
  "Where the step stood."
  status: StepStatus!
  "Steps that must be final first: the ones named by the plan and the ones referred to."
  dependsOn: [ID!]!
  "Why it had not started, as far as the journal tells: dependency, limit, backoff, approval, in doubt; otherwise null."
  waitReason: String
  "Why it failed, was skipped, or was in doubt; its data is null here."
  error: StepError
  "True once an operator had approved it."
  approved: Boolean!
  "The plan that executed it, for a step that was carried over from an earlier version."
  carriedFrom: ID
  "What did not keep it from running."
  warnings: [String!]!
  "K, R, V or U: what may be done with a call whose fate is unknown; null before the first call."
  effectClass: String
  "Its tries so far, oldest first; the data of their errors is null here."
  attempts: [Attempt!]!
  "When the next attempt was due, while RETRYING."
  nextAttemptAt: DateTime
  "When its first attempt began; null before."
  startedAt: DateTime
  "When it was over; null before."
  finishedAt: DateTime
  "From the start of the first attempt to the end of the last, in milliseconds; null while it was not over."
  durationMs: Float
}

"""
Who made an entry of a journal.
"""
type JournalWriter {
  "api, planner or executor."
  kind: String!
  "Of a worker its name; of what a client or operator asked for who asked."
  id: String!
}

"""
Where a page begins and ends.
"""
type PageInfo {
  "True when more follow: give endCursor as after."
  hasNextPage: Boolean!
  "Always false: pages go forward only."
  hasPreviousPage: Boolean!
  "Cursor of the first one; null on an empty page."
  startCursor: String
  "Where the next page goes on; null when nothing was looked at."
  endCursor: String
}

"""
One step in the shape of the older API.
"""
type SelectedTool {
  "Tool of the step."
  toolName: String!
  "The same as toolName."
  name: String!
  "Arguments as planned, as JSON text."
  parameters: String!
  "Tool of the last step it depends on; null without one."
  dependsOn: String
  "Id of the step."
  stepId: ID!
}

"""
How the execution of a request's plan stands, in the shape of the older API.
"""
type Execution {
  "The same as planId."
  id: ID!
  "The request."
  requestId: ID!
  "The plan that is executed."
  planId: ID!
  "pending, in-progress, completed or failed."
  executionState: String!
  "Where the plan stands."
  status: PlanStatus!
  "Steps in the plan."
  totalExecutions: Int!
  "Steps that completed."
  successful: Int!
  "Steps that failed for good."
  failed: Int!
  "Never started, because of a failure, a condition or a cancellation."
  skipped: Int!
  """
  JSON text: a list of { stepId, toolName, status, success, parameters, output, error, durationMs } in plan order. In the place of an output that
  is too large stands { ref, sizeBytes, preview }, here and in outputs.
  """
  results: String!
  "JSON text: an object, outputs by tool name; by step id for tools that the plan uses more than once."
  outputs: String!
  "What went wrong, one text for each failure."
  errors: [String!]!
  "The plan itself."
  plan: Plan!
  "When the plan was stored."
  createdAt: DateTime!
  "When the plan was last written."
  updatedAt: DateTime!
}
`;
