// Made from schema.graphql by schema.test.ts: run vitest with -u after a change there.
export type Maybe<T> = T | null;
export type InputMaybe<T> = Maybe<T>;
/** All built-in and custom scalars, mapped to their actual values */
export type Scalars = {
  ID: { input: string; output: string; }
  String: { input: string; output: string; }
  Boolean: { input: boolean; output: boolean; }
  Int: { input: number; output: number; }
  Float: { input: number; output: number; }
  /** An instant in UTC, as RFC 3339 text: "2026-11-21T08:40:00.000Z". */
  DateTime: { input: string; output: string; }
  /** Any JSON value. */
  JSON: { input: unknown; output: unknown; }
};

/** Reading. Nothing of it changes anything. */
export type Query = {
  /**
   * Everything recorded under one request.
   * Errors: NOT_FOUND, BAD_USER_INPUT.
   */
  request: Maybe<Request>;
  /**
   * What happened to a request and its plans, event by event, in the order of its journal. Read on with endCursor to learn what came since.
   * Errors: NOT_FOUND, BAD_USER_INPUT for a page size outside 1 to 100, or a cursor that was never given out for such a list.
   */
  events: JournalEventConnection;
  /**
   * The plan of a request as its journal told it at one of its entries: what entries 1 to seq say, and nothing that came later. Above the last entry it
   * is what the journal tells now; the seq of the answer says which entry that is, and Request.seq is the last one.
   * Planning is told by events alone, and the journal does not tell when a plan was queued. So there is no status of the request here, and none of the
   * plan before its first entry.
   * Errors: NOT_FOUND, BAD_USER_INPUT for a seq below 0.
   */
  requestAt: RequestAt;
  /**
   * Everything recorded under a request as one JSON document, without secrets: request, plans with steps and attempts, model calls,
   * tools as pinned and as they are now, timeline. Needs read, as every query. At most 7 MiB, unless the service is set otherwise; leftOut says what found no room. Outputs over 16 KiB are named
   * with their size. Errors: NOT_FOUND, BAD_USER_INPUT.
   */
  debugBundle: Scalars['JSON']['output'];
  /**
   * Requests, newest first. A page may hold fewer than asked for although pageInfo.hasNextPage says that more follow: a filter by text,
   * tool or errorCode goes through 10,000 at once.
   * Errors: BAD_USER_INPUT for a page size outside 1 to 100, a cursor that was never given out, or a filter that contradicts itself.
   */
  requests: RequestConnection;
  /**
   * One plan by its own id.
   * Errors: NOT_FOUND, BAD_USER_INPUT.
   */
  plan: Maybe<Plan>;
  /**
   * All versions of a request's plan, newest first; empty while the first one is being made.
   * Errors: NOT_FOUND, BAD_USER_INPUT.
   */
  plansByRequestId: Array<Plan>;
  /**
   * Plans of the newest requests, all versions, newest first. Of the older API; requests has pages.
   * Errors: BAD_USER_INPUT for a number outside 1 to 100.
   */
  getPlans: Array<Plan>;
  /**
   * The plans of getPlans whose execution was asked for, as executeByRequestId shows them. Of the older API.
   * Errors: BAD_USER_INPUT for a number outside 1 to 100.
   */
  getExecutions: Array<Execution>;
  /**
   * A part of the JSON text of an output that an answer holds by reference; GET /outputs/{ref} streams the whole.
   * Errors: NOT_FOUND also while there is no output yet, BAD_USER_INPUT, OVERLOADED.
   */
  output: OutputPage;
  /** Checks a plan against the tools known now and stores nothing. Takes every dialect that submitPlan takes. */
  validatePlan: PlanValidation;
  /** The tools that plans may use, as the executors last saw them. */
  getAvailableTools: Array<Tool>;
  /** The tool servers of the executors, by name, and where the connections to them stand: why a tool is not there. */
  toolServers: Array<ToolServer>;
};


/** Reading. Nothing of it changes anything. */
export type QueryRequestArgs = {
  requestId: Scalars['ID']['input'];
};


/** Reading. Nothing of it changes anything. */
export type QueryEventsArgs = {
  requestId: Scalars['ID']['input'];
  first?: Scalars['Int']['input'];
  after?: InputMaybe<Scalars['String']['input']>;
};


/** Reading. Nothing of it changes anything. */
export type QueryRequestAtArgs = {
  requestId: Scalars['ID']['input'];
  seq: Scalars['Int']['input'];
};


/** Reading. Nothing of it changes anything. */
export type QueryDebugBundleArgs = {
  requestId: Scalars['ID']['input'];
};


/** Reading. Nothing of it changes anything. */
export type QueryRequestsArgs = {
  first?: Scalars['Int']['input'];
  after?: InputMaybe<Scalars['String']['input']>;
  status?: InputMaybe<Array<RequestStatus>>;
  filter?: InputMaybe<RequestFilter>;
  orderBy?: RequestOrder;
};


/** Reading. Nothing of it changes anything. */
export type QueryPlanArgs = {
  id: Scalars['ID']['input'];
};


/** Reading. Nothing of it changes anything. */
export type QueryPlansByRequestIdArgs = {
  requestId: Scalars['ID']['input'];
};


/** Reading. Nothing of it changes anything. */
export type QueryGetPlansArgs = {
  first?: Scalars['Int']['input'];
};


/** Reading. Nothing of it changes anything. */
export type QueryGetExecutionsArgs = {
  first?: Scalars['Int']['input'];
};


/** Reading. Nothing of it changes anything. */
export type QueryOutputArgs = {
  ref: Scalars['ID']['input'];
  offset?: Scalars['Int']['input'];
  maxBytes?: Scalars['Int']['input'];
};


/** Reading. Nothing of it changes anything. */
export type QueryValidatePlanArgs = {
  plan: Scalars['JSON']['input'];
};

/**
 * Every field may be refused with OVERLOADED before anything of the operation runs: send it again after
 * extensions.retryAfterMs milliseconds. Where the service asks for a key or token, every operation may be refused as a whole:
 * UNAUTHENTICATED, FORBIDDEN with the scope that is missing, RATE_LIMITED with extensions.retryAfterMs.
 */
export type Mutation = {
  /**
   * Accepts a sentence and returns at once, or with waitMs at its end; planning goes on behind it. Read the result with request(requestId).
   * Errors: BAD_USER_INPUT for a query that is empty or longer than 10,000 characters, POLICY_INVALID with the option and its value,
   * IDEMPOTENCY_KEY_REUSED.
   */
  createPlan: Request;
  /**
   * Accepts a ready plan as JSON and returns at once; no model is asked.
   * Errors: PLAN_INVALID with every finding in extensions.diagnostics; the plan is then stored under
   * extensions.requestId and extensions.planId, and nothing is queued. IDEMPOTENCY_KEY_REUSED.
   */
  submitPlan: Request;
  /**
   * Starts a plan and returns at once. Give exactly one of the two ids; a request means its current plan.
   * A plan is executed at most once. One that was started before and goes on is returned as it is, so that a client may repeat the call;
   * while planning goes on, the plan starts as soon as it is made.
   * Errors: NOT_FOUND, BAD_USER_INPUT, PLAN_INVALID, NEEDS_INPUT; STATE_CONFLICT for a plan that is over, paused, or being cancelled, with
   * its status in extensions.status: nothing was started then.
   */
  executePlan: Request;
  /**
   * Asks for the end of a request's plan and returns at once. Running calls are told to stop and have 5 s for it. A request whose plan, or
   * whose next version, is still being made is CANCELLED at once and gets none. Asked for again, also after the plan is CANCELLED, it is
   * answered as done, so that a client may repeat it.
   * Errors: NOT_FOUND, BAD_USER_INPUT, NOT_READY when planning ends at that moment; STATE_CONFLICT for a plan that ended otherwise, and
   * for a request without a plan: nothing was cancelled then.
   */
  cancel: Request;
  /**
   * Answers open questions of a request that is NEEDS_INPUT, and returns at once. An answer becomes the value of the argument that its question is
   * about and changes nothing else of the plan that was drafted; once no question is open the plan goes on. An answer that does not fit is refused
   * with why: then none is taken, and every question stays open. A model that is answered in a sentence which is no such value plans anew with it.
   * Errors: NOT_FOUND, BAD_USER_INPUT when answers are missing or too many, ANSWER_UNFIT, STATE_CONFLICT when nothing is asked.
   */
  answerQuestions: Request;
  /**
   * Asks that nothing more of a request's plan starts, and returns at once. Calls under way end and are recorded; the plan is
   * PAUSED when the last one has, and holds no executor. Its deadline goes on. Asked for again, it is answered as done.
   * Errors: NOT_FOUND, BAD_USER_INPUT, NOT_READY while planning goes on; STATE_CONFLICT for a plan that was not started, is being
   * cancelled, or is over: nothing was paused then.
   */
  pause: Request;
  /**
   * Lets a request's plan go on that is paused, or is to be paused, and returns at once.
   * Errors: NOT_FOUND, BAD_USER_INPUT, NOT_READY while planning goes on; STATE_CONFLICT for any other plan, also for one that goes on
   * already: nothing was resumed then.
   */
  resume: Request;
  /**
   * Says whether a step that is WAITING_APPROVAL may call its tool, and returns at once. What is approved is exactly what the
   * step shows: when its arguments or the tool change before the call, nothing is called and the step fails with APPROVAL_STALE.
   * A refused step fails with APPROVAL_REFUSED. The first word counts; the same word again by the same caller is answered as done.
   * Errors: NOT_FOUND, BAD_USER_INPUT, APPROVAL_STALE for another hash than the step shows; STATE_CONFLICT when it does not wait, or
   * when the opposite, or the same by another caller, was said before: nothing was changed then.
   */
  approve: Request;
  /**
   * Settles a step, or an item, that is IN_DOUBT: it is not known whether its call happened. Returns at once; an executor acts on
   * it. In a plan that is over, the step gets its last state here, and retry makes it FAILED (SETTLED_AS_NOT_DONE), to be called again
   * by rerun. The step tells in settled who said so.
   * Errors: NOT_FOUND, BAD_USER_INPUT, STATE_CONFLICT when it is not in doubt, or was settled before.
   */
  resolveInDoubt: Request;
  /**
   * Runs a plan that is over again, as a new version under the same request, and returns at once. What did not complete runs
   * again; with from, that step and everything that depends on it too. Every other step is carried over with its output and is
   * never called again. Of a list with failed items, also one that completed, exactly those items are called again; steps that used
   * its output run again too, after an approval where that repeats a side effect. Of several reruns at once one makes a version.
   * Steps that did not complete may get other arguments: the plan with them is checked as by submitPlan, and nothing is stored when it is
   * not valid. A step that completed keeps its arguments, and so does one of which a call acted, or may have.
   * Errors: NOT_FOUND, BAD_USER_INPUT, NOT_READY while planning goes on, PLAN_INVALID, NEEDS_INPUT; STATE_CONFLICT while the plan
   * goes on, when nothing failed and from is absent, when steps are IN_DOUBT or may have acted, which extensions.steps then names, for
   * other arguments of a step that completed, and for another fromVersion; IDEMPOTENCY_KEY_REUSED.
   */
  rerun: Request;
  /**
   * Puts another plan in the place of a request's plan that is over, or was not started, and returns at once: a new version under the same request. It is
   * checked as by submitPlan, and nothing is stored when it is not valid. A plan that was not started is SUPERSEDED by it and never runs. Steps that
   * stand in both plans, word for word, and that completed are carried over with their outputs and never called again; a step that is another one, or that
   * uses the output of one, is called anew. Where that repeats a side effect only because of a step before it, it waits for approval. Of several at
   * once one makes a version.
   * Errors: NOT_FOUND, BAD_USER_INPUT, NOT_READY while planning goes on, PLAN_INVALID, NEEDS_INPUT, PLANNING_FAILED when there never was a plan;
   * STATE_CONFLICT while the plan goes on, for another fromVersion, and when steps are IN_DOUBT, or may have acted and would be called in other words,
   * which extensions.steps then names; IDEMPOTENCY_KEY_REUSED.
   */
  amendPlan: Amendment;
  /**
   * Has another version of a plan made that is over and not COMPLETED, and returns at once: the request is PLANNING. The model sees
   * what became of the plan, shortened and as data. Steps that completed are carried over and never called again; steps with side
   * effects that it adds or changes wait for approval, unless both the policy replannedEffects of the plan and the planner's setting
   * REPLANNED_EFFECTS say run (approve is the default of both). Without a new version the request gets its status back and says why
   * in error: REPLAN_UNCHANGED for a plan that was tried before, MODEL_REQUIRED where the planner has no model, PLAN_INVALID,
   * NOT_PLANNABLE, or the model's own trouble.
   * Errors: NOT_FOUND, BAD_USER_INPUT, NOT_READY while planning goes on, PLAN_INVALID, NEEDS_INPUT; STATE_CONFLICT while the plan
   * goes on, when it COMPLETED, after 20 replans of one request, when no planner that lives has a model, for another fromVersion, and when steps are
   * IN_DOUBT, which extensions.steps then names; IDEMPOTENCY_KEY_REUSED.
   */
  replan: Request;
  /**
   * Plans a sentence and waits for the plan, 60 s at most; starts nothing.
   * Errors: BAD_USER_INPUT, POLICY_INVALID, PLAN_INVALID, NEEDS_INPUT, TIMEOUT, IDEMPOTENCY_KEY_REUSED, or the planner's own code.
   */
  createPlanWithRequestId: Plan;
  /**
   * The same as createPlanWithRequestId, under an older name.
   * Errors: BAD_USER_INPUT, POLICY_INVALID, PLAN_INVALID, NEEDS_INPUT, TIMEOUT, IDEMPOTENCY_KEY_REUSED, or the planner's own code.
   */
  createPlanWithWorkflow: Plan;
  /**
   * Executes a request's plan and waits for its end, 30 s at most. Still running then: executionState is "in-progress",
   * and a later call waits on. Calling it again never executes again.
   * Errors: NOT_FOUND, BAD_USER_INPUT, PLAN_INVALID, NEEDS_INPUT, TIMEOUT when there is no plan after 30 s.
   */
  executeByRequestId: Execution;
};


/**
 * Every field may be refused with OVERLOADED before anything of the operation runs: send it again after
 * extensions.retryAfterMs milliseconds. Where the service asks for a key or token, every operation may be refused as a whole:
 * UNAUTHENTICATED, FORBIDDEN with the scope that is missing, RATE_LIMITED with extensions.retryAfterMs.
 */
export type MutationCreatePlanArgs = {
  query: Scalars['String']['input'];
  execute?: Scalars['Boolean']['input'];
  maxReplans?: Scalars['Int']['input'];
  answer?: Scalars['Boolean']['input'];
  limits?: InputMaybe<ModelLimitsInput>;
  tags?: InputMaybe<Array<Scalars['String']['input']>>;
  context?: InputMaybe<ContextInput>;
  profile?: InputMaybe<Scalars['String']['input']>;
  policy?: InputMaybe<Scalars['JSON']['input']>;
  idempotencyKey?: InputMaybe<Scalars['String']['input']>;
  waitMs?: Scalars['Int']['input'];
};


/**
 * Every field may be refused with OVERLOADED before anything of the operation runs: send it again after
 * extensions.retryAfterMs milliseconds. Where the service asks for a key or token, every operation may be refused as a whole:
 * UNAUTHENTICATED, FORBIDDEN with the scope that is missing, RATE_LIMITED with extensions.retryAfterMs.
 */
export type MutationSubmitPlanArgs = {
  plan: Scalars['JSON']['input'];
  execute?: Scalars['Boolean']['input'];
  query?: InputMaybe<Scalars['String']['input']>;
  maxReplans?: Scalars['Int']['input'];
  answer?: Scalars['Boolean']['input'];
  limits?: InputMaybe<ModelLimitsInput>;
  tags?: InputMaybe<Array<Scalars['String']['input']>>;
  idempotencyKey?: InputMaybe<Scalars['String']['input']>;
  waitMs?: Scalars['Int']['input'];
};


/**
 * Every field may be refused with OVERLOADED before anything of the operation runs: send it again after
 * extensions.retryAfterMs milliseconds. Where the service asks for a key or token, every operation may be refused as a whole:
 * UNAUTHENTICATED, FORBIDDEN with the scope that is missing, RATE_LIMITED with extensions.retryAfterMs.
 */
export type MutationExecutePlanArgs = {
  planId?: InputMaybe<Scalars['ID']['input']>;
  requestId?: InputMaybe<Scalars['ID']['input']>;
};


/**
 * Every field may be refused with OVERLOADED before anything of the operation runs: send it again after
 * extensions.retryAfterMs milliseconds. Where the service asks for a key or token, every operation may be refused as a whole:
 * UNAUTHENTICATED, FORBIDDEN with the scope that is missing, RATE_LIMITED with extensions.retryAfterMs.
 */
export type MutationCancelArgs = {
  requestId: Scalars['ID']['input'];
};


/**
 * Every field may be refused with OVERLOADED before anything of the operation runs: send it again after
 * extensions.retryAfterMs milliseconds. Where the service asks for a key or token, every operation may be refused as a whole:
 * UNAUTHENTICATED, FORBIDDEN with the scope that is missing, RATE_LIMITED with extensions.retryAfterMs.
 */
export type MutationAnswerQuestionsArgs = {
  requestId: Scalars['ID']['input'];
  answers?: InputMaybe<Array<Scalars['String']['input']>>;
  values?: InputMaybe<Array<QuestionValue>>;
};


/**
 * Every field may be refused with OVERLOADED before anything of the operation runs: send it again after
 * extensions.retryAfterMs milliseconds. Where the service asks for a key or token, every operation may be refused as a whole:
 * UNAUTHENTICATED, FORBIDDEN with the scope that is missing, RATE_LIMITED with extensions.retryAfterMs.
 */
export type MutationPauseArgs = {
  requestId: Scalars['ID']['input'];
};


/**
 * Every field may be refused with OVERLOADED before anything of the operation runs: send it again after
 * extensions.retryAfterMs milliseconds. Where the service asks for a key or token, every operation may be refused as a whole:
 * UNAUTHENTICATED, FORBIDDEN with the scope that is missing, RATE_LIMITED with extensions.retryAfterMs.
 */
export type MutationResumeArgs = {
  requestId: Scalars['ID']['input'];
};


/**
 * Every field may be refused with OVERLOADED before anything of the operation runs: send it again after
 * extensions.retryAfterMs milliseconds. Where the service asks for a key or token, every operation may be refused as a whole:
 * UNAUTHENTICATED, FORBIDDEN with the scope that is missing, RATE_LIMITED with extensions.retryAfterMs.
 */
export type MutationApproveArgs = {
  requestId: Scalars['ID']['input'];
  stepId: Scalars['ID']['input'];
  approvalHash: Scalars['String']['input'];
  approved?: Scalars['Boolean']['input'];
  reason?: InputMaybe<Scalars['String']['input']>;
};


/**
 * Every field may be refused with OVERLOADED before anything of the operation runs: send it again after
 * extensions.retryAfterMs milliseconds. Where the service asks for a key or token, every operation may be refused as a whole:
 * UNAUTHENTICATED, FORBIDDEN with the scope that is missing, RATE_LIMITED with extensions.retryAfterMs.
 */
export type MutationResolveInDoubtArgs = {
  requestId: Scalars['ID']['input'];
  stepKey: Scalars['ID']['input'];
  resolution: InDoubtResolution;
  output?: InputMaybe<Scalars['JSON']['input']>;
  reason?: InputMaybe<Scalars['String']['input']>;
  attempt?: InputMaybe<Scalars['Int']['input']>;
};


/**
 * Every field may be refused with OVERLOADED before anything of the operation runs: send it again after
 * extensions.retryAfterMs milliseconds. Where the service asks for a key or token, every operation may be refused as a whole:
 * UNAUTHENTICATED, FORBIDDEN with the scope that is missing, RATE_LIMITED with extensions.retryAfterMs.
 */
export type MutationRerunArgs = {
  requestId: Scalars['ID']['input'];
  from?: InputMaybe<Scalars['ID']['input']>;
  arguments?: InputMaybe<Array<StepArguments>>;
  execute?: Scalars['Boolean']['input'];
  fromVersion?: InputMaybe<Scalars['Int']['input']>;
  idempotencyKey?: InputMaybe<Scalars['String']['input']>;
};


/**
 * Every field may be refused with OVERLOADED before anything of the operation runs: send it again after
 * extensions.retryAfterMs milliseconds. Where the service asks for a key or token, every operation may be refused as a whole:
 * UNAUTHENTICATED, FORBIDDEN with the scope that is missing, RATE_LIMITED with extensions.retryAfterMs.
 */
export type MutationAmendPlanArgs = {
  requestId: Scalars['ID']['input'];
  plan: Scalars['JSON']['input'];
  execute?: Scalars['Boolean']['input'];
  fromVersion?: InputMaybe<Scalars['Int']['input']>;
  idempotencyKey?: InputMaybe<Scalars['String']['input']>;
};


/**
 * Every field may be refused with OVERLOADED before anything of the operation runs: send it again after
 * extensions.retryAfterMs milliseconds. Where the service asks for a key or token, every operation may be refused as a whole:
 * UNAUTHENTICATED, FORBIDDEN with the scope that is missing, RATE_LIMITED with extensions.retryAfterMs.
 */
export type MutationReplanArgs = {
  requestId: Scalars['ID']['input'];
  note?: InputMaybe<Scalars['String']['input']>;
  execute?: Scalars['Boolean']['input'];
  fromVersion?: InputMaybe<Scalars['Int']['input']>;
  idempotencyKey?: InputMaybe<Scalars['String']['input']>;
};


/**
 * Every field may be refused with OVERLOADED before anything of the operation runs: send it again after
 * extensions.retryAfterMs milliseconds. Where the service asks for a key or token, every operation may be refused as a whole:
 * UNAUTHENTICATED, FORBIDDEN with the scope that is missing, RATE_LIMITED with extensions.retryAfterMs.
 */
export type MutationCreatePlanWithRequestIdArgs = {
  query: Scalars['String']['input'];
  context?: InputMaybe<ContextInput>;
  profile?: InputMaybe<Scalars['String']['input']>;
  policy?: InputMaybe<Scalars['JSON']['input']>;
  idempotencyKey?: InputMaybe<Scalars['String']['input']>;
};


/**
 * Every field may be refused with OVERLOADED before anything of the operation runs: send it again after
 * extensions.retryAfterMs milliseconds. Where the service asks for a key or token, every operation may be refused as a whole:
 * UNAUTHENTICATED, FORBIDDEN with the scope that is missing, RATE_LIMITED with extensions.retryAfterMs.
 */
export type MutationCreatePlanWithWorkflowArgs = {
  query: Scalars['String']['input'];
  context?: InputMaybe<ContextInput>;
  profile?: InputMaybe<Scalars['String']['input']>;
  policy?: InputMaybe<Scalars['JSON']['input']>;
  idempotencyKey?: InputMaybe<Scalars['String']['input']>;
};


/**
 * Every field may be refused with OVERLOADED before anything of the operation runs: send it again after
 * extensions.retryAfterMs milliseconds. Where the service asks for a key or token, every operation may be refused as a whole:
 * UNAUTHENTICATED, FORBIDDEN with the scope that is missing, RATE_LIMITED with extensions.retryAfterMs.
 */
export type MutationExecuteByRequestIdArgs = {
  requestId: Scalars['ID']['input'];
};

/** Over WebSocket (graphql-transport-ws) at /graphql, or as server-sent events from /graphql/stream. */
export type Subscription = {
  /**
   * A request as it is now, then each newer state, and the end once it is over. States that come faster than they are read are
   * skipped, never the last. After a lost connection, subscribe again: the first answer is the state of then.
   * Errors: NOT_FOUND, BAD_USER_INPUT, OVERLOADED; UNAUTHENTICATED as the last result when the API key or token of the subscriber is
   * revoked or expires meanwhile.
   */
  requestUpdated: Request;
  /**
   * What changes of the requests that fit a filter, for those who show a list of them. The first event is READ_LIST: from then on no change is
   * missed, so read the list with requests(filter) when it comes, and apply what follows to that. Several changes of a request within a moment are
   * told as one, with its newest state. It goes on until it is left; after a lost connection, subscribe again and read the list at READ_LIST.
   * Requests that are removed because they ended long ago are not told.
   * Errors: BAD_USER_INPUT for a filter that contradicts itself, OVERLOADED; UNAUTHENTICATED as the last result when the API key or token of the
   * subscriber is revoked or expires meanwhile.
   */
  requestsUpdated: RequestChange;
};


/** Over WebSocket (graphql-transport-ws) at /graphql, or as server-sent events from /graphql/stream. */
export type SubscriptionRequestUpdatedArgs = {
  requestId: Scalars['ID']['input'];
};


/** Over WebSocket (graphql-transport-ws) at /graphql, or as server-sent events from /graphql/stream. */
export type SubscriptionRequestsUpdatedArgs = {
  filter?: InputMaybe<RequestFilter>;
};

/** What changed of a list of requests. */
export type RequestChange = {
  /** What to do with the list. */
  kind: RequestChangeKind;
  /** The request that changed; null for READ_LIST. */
  requestId: Maybe<Scalars['ID']['output']>;
  /** As it is now, for CHANGED; otherwise null. */
  request: Maybe<Request>;
};

/** What to do with a list of requests of which something changed. */
export type RequestChangeKind =
  /** Read the list, or read it again: what changed before may not have been told. It comes first, and after changes were missed. */
  | 'READ_LIST'
  /** The request is new or has changed, and fits the filter: show it as it is now. */
  | 'CHANGED'
  /** The request does not fit the filter any more: take it from the list. It may come for one that was never in it, and means nothing then. */
  | 'LEFT';

/** Where a request stands. */
export type RequestStatus =
  /** The plan is being made. */
  | 'PLANNING'
  /** The planner asks something back: see questions. */
  | 'NEEDS_INPUT'
  /** The plan is stored; its execution was not asked for yet. */
  | 'READY'
  /** The plan is queued or running. */
  | 'EXECUTING'
  /** Every step that had to be done is done. */
  | 'COMPLETED'
  /** Some requested outputs are there, some are not; or items of a list failed. */
  | 'PARTIAL'
  /** Planning or execution failed: see error and plan.error. */
  | 'FAILED'
  /** Ended because someone asked for it. */
  | 'CANCELLED';

/** Now and here, where a request comes from. It is fixed when the request is accepted: repairs and later versions of its plan see the same. */
export type ContextInput = {
  /** What today and in two hours are counted from; absent means when the request was accepted. */
  now?: InputMaybe<Scalars['DateTime']['input']>;
  /** Where days begin and clocks are read, by its IANA name such as Europe/Berlin; absent means UTC. */
  timezone?: InputMaybe<Scalars['String']['input']>;
  /** Language and region of the caller as a BCP 47 tag, such as de-DE. */
  locale?: InputMaybe<Scalars['String']['input']>;
  /**
   * What is known of the caller and need not be said each time, such as ids and defaults: an object of its own, at most 16 KiB. Models
   * see it as data, and take values from it as from the query; what looks like a credential is kept from them.
   */
  facts?: InputMaybe<Scalars['JSON']['input']>;
};

/** Which requests are wanted. What is absent or null leaves nothing out. */
export type RequestFilter = {
  /** In one of these states; an empty list means all. */
  status?: InputMaybe<Array<RequestStatus>>;
  /** A version of the plan uses this tool: its name, or server/tool where the plan says so. */
  tool?: InputMaybe<Scalars['String']['input']>;
  /**
   * Planning, the last replan, or a version of the plan failed with this code, such as TOOL_TIMEOUT. With tool: a version that uses the
   * tool failed so.
   */
  errorCode?: InputMaybe<Scalars['String']['input']>;
  /** It was given this tag. */
  tag?: InputMaybe<Scalars['String']['input']>;
  /** The sentence contains this text, 1 to 200 characters, whatever the case of the letters; no character in it means anything else. */
  text?: InputMaybe<Scalars['String']['input']>;
  /** Created then or later. */
  createdFrom?: InputMaybe<Scalars['DateTime']['input']>;
  /** Created earlier. */
  createdBefore?: InputMaybe<Scalars['DateTime']['input']>;
  /** It waits for a person, who is to do this. */
  needs?: InputMaybe<RequestNeed>;
};

/** What only people can do for a request. */
export type RequestNeed =
  /** A step waits for an approval. */
  | 'APPROVAL'
  /** Whether a call of a step happened is not known, and no tool can tell; also of a plan that is over. */
  | 'DOUBT'
  /** The planner asks something. */
  | 'ANSWER';

/** Order of a list of requests by the time when they were created; with a filter by tool, errorCode, or an approval or doubt that it needs to the second. */
export type RequestOrder =
  /** The last one first. */
  | 'NEWEST_FIRST'
  /** The first one first. */
  | 'OLDEST_FIRST';

/** Which steps and items of a plan are wanted. What is absent or null leaves nothing out. */
export type StepFilter = {
  /** In one of these states; an empty list means all. */
  status?: InputMaybe<Array<StepStatus>>;
  /** This step and its items; nothing when the plan has no such step. */
  stepId?: InputMaybe<Scalars['ID']['input']>;
  /** true: items of forEach steps alone; false: steps alone. */
  items?: InputMaybe<Scalars['Boolean']['input']>;
};

/** Where a plan stands. INVALID, COMPLETED, PARTIAL, FAILED, CANCELLED, EXPIRED and SUPERSEDED never change again. */
export type PlanStatus =
  /** Stored with its diagnostics; can never run. */
  | 'INVALID'
  /** May be started. */
  | 'READY'
  /** Waits for an executor. */
  | 'QUEUED'
  /** An executor holds it. */
  | 'RUNNING'
  /** Nothing can be done right now, and no executor holds it: see waitReason. */
  | 'WAITING'
  /** Stopped by an operator until resumed. */
  | 'PAUSED'
  /** Its end was asked for; running calls are being stopped. */
  | 'CANCELLING'
  /** Every step that had to be done is done. */
  | 'COMPLETED'
  /** Some requested outputs are there, some are not; or items of a list failed. */
  | 'PARTIAL'
  /** Ended by a failed step: see error. */
  | 'FAILED'
  /** Ended because someone asked for it. */
  | 'CANCELLED'
  /** Its deadline passed. */
  | 'EXPIRED'
  /** Replaced by a newer version before it started. */
  | 'SUPERSEDED';

/** Where a step, or one item of a forEach step, stands. */
export type StepStatus =
  /** Not started: see waitReason. */
  | 'PENDING'
  /** An operator must approve its call. */
  | 'WAITING_APPROVAL'
  /** Its call is under way. */
  | 'RUNNING'
  /** An attempt failed and another one follows. */
  | 'RETRYING'
  /** Done: see output. */
  | 'COMPLETED'
  /** Failed for good: see error. */
  | 'FAILED'
  /** Never started: see error for the reason. */
  | 'SKIPPED'
  /** It is not known whether its call had an effect; an operator must say: resolveInDoubt. */
  | 'IN_DOUBT'
  /** Ended because someone asked for it. */
  | 'CANCELLED';

/** What became of a call of which it was not known. */
export type InDoubtResolution =
  /** It happened. */
  | 'completed'
  /** It did not happen, or failed, and is not called again. */
  | 'failed'
  /** It did not happen, and is called again. */
  | 'retry';

/** How much a finding about a plan weighs. */
export type DiagnosticSeverity =
  /** Keeps the plan from running. */
  | 'error'
  /** Worth knowing; the plan may run. */
  | 'warning';

/** What a user asked, with everything done for it. */
export type Request = {
  /** The same as requestId. */
  id: Scalars['ID']['output'];
  /** req_{unix seconds}_{random}. */
  requestId: Scalars['ID']['output'];
  /** Id of the current plan. Fixed from the start: plan is null until it has been made. A rerun or replan is a new plan. */
  planId: Scalars['ID']['output'];
  /** Where the request stands. */
  status: RequestStatus;
  /** The status in one of four words: pending, in-progress, completed, failed. */
  executionState: Scalars['String']['output'];
  /** query: a sentence to plan; plan: a plan given as JSON. */
  source: Scalars['String']['output'];
  /** The sentence; null when a plan was submitted without one. */
  query: Maybe<Scalars['String']['output']>;
  /** What it was tagged with, each once. */
  tags: Array<Scalars['String']['output']>;
  /** Now and here, as it holds for everything that is done for the request. */
  context: RequestContext;
  /** What was asked for of the plan's policy, its profile included; null when nothing was. The plan's own policy is complete. */
  policy: Maybe<Scalars['JSON']['output']>;
  /** Version of the current plan, from 1. */
  version: Scalars['Int']['output'];
  /** True when the plan starts as soon as it is stored. */
  autoExecute: Scalars['Boolean']['output'];
  /** Why planning failed, or the last replan; how execution failed is told by plan.error. */
  error: Maybe<Problem>;
  /** Everything found about the plan while it was made or submitted. */
  diagnostics: Array<Diagnostic>;
  /** What the planner must know before it can go on, when NEEDS_INPUT. */
  questions: Array<Scalars['String']['output']>;
  /** The same with what each is about, in the same order. */
  openQuestions: Array<OpenQuestion>;
  /** What the user answered so far, oldest first. */
  answers: Array<Answer>;
  /** How often a failed plan is made anew without being asked for. */
  maxReplans: Scalars['Int']['output'];
  /** How often it was made anew, asked for or not. */
  replans: Scalars['Int']['output'];
  /** True when an answer in words was asked for. */
  answerRequested: Scalars['Boolean']['output'];
  /** The results in words, at most 20,000 characters; null until they are told. */
  answer: Maybe<Scalars['String']['output']>;
  /** Why there is no answer, though one was asked for. */
  answerError: Maybe<Problem>;
  /** Why planning waits for a planner: no worker when none is known to live, limit when all are busy; otherwise null. */
  waitReason: Maybe<Scalars['String']['output']>;
  /** The current plan; null until it has been made. */
  plan: Maybe<Plan>;
  /** All versions of the plan, newest first, at once. */
  plans: Array<Plan>;
  /**
   * The same list in pages: a plan may be run again any number of times.
   * Errors: BAD_USER_INPUT for a page size outside 1 to 100, or a cursor that was never given out for such a list.
   */
  plansConnection: PlanConnection;
  /** Every call of a chat model made for this request, failed tries included, oldest first. */
  modelCalls: Array<ModelCall>;
  /**
   * The same list in pages. Prompts and answers may be long.
   * Errors: BAD_USER_INPUT for a page size outside 1 to 100, or a cursor that was never given out for such a list.
   */
  modelCallsConnection: ModelCallConnection;
  /** The last entry of its journal, to be used with requestAt; 0 before the first one. */
  seq: Scalars['Int']['output'];
  /**
   * What happened to the request and its plans, event by event, in the order of its journal.
   * Errors: BAD_USER_INPUT for a page size outside 1 to 100, or a cursor that was never given out for such a list.
   */
  events: JournalEventConnection;
  /** What the calls of models may take, and took. */
  modelUse: ModelUse;
  /** When it was accepted. */
  createdAt: Scalars['DateTime']['output'];
  /** When anything of it was last written. */
  updatedAt: Scalars['DateTime']['output'];
  /** When a planner first took it, or took it for the last replan; null before. */
  planningStartedAt: Maybe<Scalars['DateTime']['output']>;
  /** When planning ended, with a plan or without; null while it goes on. */
  planningFinishedAt: Maybe<Scalars['DateTime']['output']>;
};


/** What a user asked, with everything done for it. */
export type RequestPlansConnectionArgs = {
  first?: Scalars['Int']['input'];
  after?: InputMaybe<Scalars['String']['input']>;
};


/** What a user asked, with everything done for it. */
export type RequestModelCallsConnectionArgs = {
  first?: Scalars['Int']['input'];
  after?: InputMaybe<Scalars['String']['input']>;
};


/** What a user asked, with everything done for it. */
export type RequestEventsArgs = {
  first?: Scalars['Int']['input'];
  after?: InputMaybe<Scalars['String']['input']>;
};

/** Now and here, where a request comes from. */
export type RequestContext = {
  /** What today and in two hours are counted from. */
  now: Scalars['DateTime']['output'];
  /** IANA name of the time zone. */
  timezone: Scalars['String']['output'];
  /** BCP 47 tag; null when it was not given. */
  locale: Maybe<Scalars['String']['output']>;
  /** The caller's own data, as it was given; empty when none was. */
  facts: Scalars['JSON']['output'];
};

/**
 * A question of the planner that has no answer yet. Its answer becomes the value of one argument of one step, and changes nothing else of the plan
 * that was drafted.
 */
export type OpenQuestion = {
  /** Stable, and never given to another question of the request. */
  id: Scalars['ID']['output'];
  /** For people. */
  question: Scalars['String']['output'];
  /** The step whose argument is asked for; null for a question in a model's own words that names none. */
  stepId: Maybe<Scalars['ID']['output']>;
  /** The tool of that step. */
  tool: Maybe<Scalars['String']['output']>;
  /** The argument, such as email or authors[0].email. */
  parameter: Maybe<Scalars['String']['output']>;
  /** JSON Schema of the value; null where the tool declares none. */
  schema: Maybe<Scalars['JSON']['output']>;
};

/** Other arguments for one step of a rerun. */
export type StepArguments = {
  /** Id of a step that did not complete. */
  stepId: Scalars['ID']['input'];
  /** The arguments that change, by name, with references as in a plan; those that are not named stay. Of a list: those of each call. */
  set: Scalars['JSON']['input'];
};

/** The value for one open question. */
export type QuestionValue = {
  /** Id of the question. */
  questionId: Scalars['ID']['input'];
  /** What fits its schema. */
  value: Scalars['JSON']['input'];
};

/** An answer of the user to a question of the planner. */
export type Answer = {
  /** Id of the question. */
  questionId: Scalars['ID']['output'];
  /** The step whose argument was asked for; null where it was none. */
  stepId: Maybe<Scalars['ID']['output']>;
  /** The argument. */
  parameter: Maybe<Scalars['String']['output']>;
  /** The value that the answer gives it. */
  value: Maybe<Scalars['JSON']['output']>;
  /** As the planner asked it. */
  question: Scalars['String']['output'];
  /** As the user gave it. */
  answer: Scalars['String']['output'];
  /** When it was given. */
  at: Scalars['DateTime']['output'];
};

/** One immutable version of a plan, and how far it is. */
export type Plan = {
  /** The same as planId. */
  id: Scalars['ID']['output'];
  /** plan_{unix seconds}_{random}. */
  planId: Scalars['ID']['output'];
  /** The request that it was made for. */
  requestId: Scalars['ID']['output'];
  /** The request that it was made for. */
  request: Request;
  /** The sentence it was made for; empty when it was submitted without one. */
  query: Scalars['String']['output'];
  /** From 1; a rerun, replan or edit is a new version. */
  version: Scalars['Int']['output'];
  /** Where the plan stands. */
  status: PlanStatus;
  /** The status in one of four words: pending, in-progress, completed, failed. */
  executionState: Scalars['String']['output'];
  /** Who made the plan. */
  origin: PlanOrigin;
  /** The plan in its one canonical form, references as written; null when the submission could not be read as a plan. */
  document: Maybe<Scalars['JSON']['output']>;
  /** The answer of the model, or the submission, as it came. */
  raw: Maybe<Scalars['String']['output']>;
  /** Everything found about this version while it was made or submitted. */
  diagnostics: Array<Diagnostic>;
  /**
   * Steps in plan order, each followed by the items of its forEach that have begun, all at once: up to 1,000 steps, and up to 10,000
   * items for each list. Empty for an INVALID plan. stepsConnection gives the same in pages.
   */
  steps: Array<Step>;
  /**
   * The same list in pages. Where it grows meanwhile, what begins before the cursor is on none of the later pages.
   * A page may hold fewer than asked for although pageInfo.hasNextPage says that more follow: a filter by status goes through 10,000 at once.
   * Errors: BAD_USER_INPUT for a page size outside 1 to 100, or a cursor that was never given out for such a list.
   */
  stepsConnection: StepConnection;
  /** Its steps by status. */
  counts: StepCounts;
  /**
   * Outputs by step id, the requested ones or all, when the plan is over. In the place of one that is too large stands
   * { ref, sizeBytes, preview }: outputReferences names those.
   */
  outputs: Maybe<Scalars['JSON']['output']>;
  /** The outputs that stand in outputs by reference, in its order. */
  outputReferences: Array<NamedOutputReference>;
  /** Why the plan failed. */
  error: Maybe<StepError>;
  /** Why the whole plan waits: paused, no worker, approval, backoff, limit, in doubt; null while it runs or is over. */
  waitReason: Maybe<Scalars['String']['output']>;
  /** The executor that holds the plan now. */
  executor: Maybe<Scalars['String']['output']>;
  /** Times that executors have claimed the plan. */
  epoch: Scalars['Int']['output'];
  /** When it was stored. */
  createdAt: Scalars['DateTime']['output'];
  /** When its execution was asked for; null before. */
  queuedAt: Maybe<Scalars['DateTime']['output']>;
  /** When an executor first took it; null before. */
  startedAt: Maybe<Scalars['DateTime']['output']>;
  /** When it was over; null before. */
  finishedAt: Maybe<Scalars['DateTime']['output']>;
  /** When it was last written; its steps have times of their own. */
  updatedAt: Scalars['DateTime']['output'];
  /** From the start to the end, or until now, in milliseconds; null before the start. */
  durationMs: Maybe<Scalars['Float']['output']>;
  /** What operators said of steps that needed approval, oldest first. */
  approvals: Array<Approval>;
  /** What operators said of steps that were in doubt, oldest first. */
  resolutions: Array<Resolution>;
  /** When its end was asked for; null when it was not. Set, and finishedAt null: it waits for calls that are being stopped. */
  cancelRequestedAt: Maybe<Scalars['DateTime']['output']>;
  /** Set while the plan is paused, or to be paused: while its status is not PAUSED, calls under way are waited for. */
  pauseRequestedAt: Maybe<Scalars['DateTime']['output']>;
  /** When it ends as EXPIRED at the latest; null before the start. */
  deadlineAt: Maybe<Scalars['DateTime']['output']>;
  /** The canonical plan as JSON text. Of the older API; document is the same as JSON. */
  plan: Scalars['String']['output'];
  /** The steps in the shape of the older API. */
  selectedTools: Array<SelectedTool>;
  /** Tools in the order in which their steps can run. Of the older API. */
  toolOrder: Array<Scalars['String']['output']>;
  /** The results of the steps as JSON text, null until the plan is over. Of the older API. */
  executionResults: Maybe<Scalars['String']['output']>;
  /** The diagnostics as JSON text. Of the older API. */
  validationResult: Scalars['String']['output'];
};


/** One immutable version of a plan, and how far it is. */
export type PlanStepsConnectionArgs = {
  first?: Scalars['Int']['input'];
  after?: InputMaybe<Scalars['String']['input']>;
  filter?: InputMaybe<StepFilter>;
};

/** Who made a plan. */
export type PlanOrigin = {
  /** model, offline or submitted. */
  kind: Scalars['String']['output'];
  /** Name of the model, such as openai:gpt-4o; null without one. */
  model: Maybe<Scalars['String']['output']>;
};

/** One tool call of a plan, or one item of a forEach step. */
export type Step = {
  /** Name of the step inside its plan, such as createAuthor. The items of a forEach share it. */
  id: Scalars['ID']['output'];
  /** Unique inside the plan: the step's id, with [index] for an item of a forEach. */
  key: Scalars['String']['output'];
  /** Position in the list, for an item of a forEach. */
  item: Maybe<Scalars['Int']['output']>;
  /** Name of the tool in the plan: its own, or server/tool. */
  tool: Scalars['String']['output'];
  /** Where the step stands. */
  status: StepStatus;
  /** Steps that must be final first: the ones named by the plan and the ones referred to. */
  dependsOn: Array<Scalars['ID']['output']>;
  /** As planned, with references such as <<createAuthor._id>>, and not redacted: secrets are named as secret://name. */
  arguments: Scalars['JSON']['output'];
  /** As sent to the tool in the latest attempt, or as they would be sent, while WAITING_APPROVAL (of a forEach { calls: { key: arguments } }); null before, and for those over 32 KiB. */
  resolvedArguments: Maybe<Scalars['JSON']['output']>;
  /** What is kept of arguments over 32 KiB. */
  resolvedArgumentsPreview: Maybe<ArgumentsPreview>;
  /**
   * What the step keeps of the tool's result, not redacted but for secrets put in by name; null until COMPLETED. In the place of one that is too
   * large stands { ref, sizeBytes, preview }: outputReference is the same, and null for an output that stands here itself.
   */
  output: Maybe<Scalars['JSON']['output']>;
  /** What stands in output, where the output itself is too large for it, or the answer has no room for it. */
  outputReference: Maybe<OutputReference>;
  /** Why it failed, was skipped, or is in doubt. */
  error: Maybe<StepError>;
  /** What an operator said of it while it was in doubt: output or error are then the operator's word, not the tool's. Null where the tool said so itself. */
  settled: Maybe<Settlement>;
  /** Hash of plan, step, arguments and tool that approve takes; null for a step that has not had to ask. */
  approvalHash: Maybe<Scalars['String']['output']>;
  /** True once an operator approved it. */
  approved: Scalars['Boolean']['output'];
  /** The plan that executed it, for a step that was carried over from an earlier version. */
  carriedFrom: Maybe<Scalars['ID']['output']>;
  /** What did not keep it from running, such as a reference that was kept as text. */
  warnings: Array<Scalars['String']['output']>;
  /** Why it has not started: dependency, limit, backoff, approval, in doubt, paused, no worker. Null while it runs and when it is over. A plan that was not started counts as paused. */
  waitReason: Maybe<Scalars['String']['output']>;
  /** K, R, V or U: what may be done with a call whose fate is unknown. */
  effectClass: Maybe<Scalars['String']['output']>;
  /** Its tries, oldest first. */
  attempts: Array<Attempt>;
  /** When the next attempt is due, while RETRYING. */
  nextAttemptAt: Maybe<Scalars['DateTime']['output']>;
  /** When its first attempt began; null before. */
  startedAt: Maybe<Scalars['DateTime']['output']>;
  /** When it was over; null before. */
  finishedAt: Maybe<Scalars['DateTime']['output']>;
  /** From the start of the first attempt to the end of the last, in milliseconds. */
  durationMs: Maybe<Scalars['Float']['output']>;
};

/** Stands for an output that is too large for an answer: over 64 KiB unless the service is set otherwise, or one of very many. */
export type OutputReference = {
  /** Read the output with output(ref), or GET /outputs/{ref}. */
  ref: Scalars['ID']['output'];
  /** Size as JSON in UTF-8; null where it is not known before the output is read. */
  sizeBytes: Maybe<Scalars['Int']['output']>;
  /** The first KiB of the JSON; null where it is not at hand. */
  preview: Maybe<Scalars['String']['output']>;
};

/** An output of a plan that stands there by reference. */
export type NamedOutputReference = {
  /** Id of the step, or name of the part. */
  name: Scalars['String']['output'];
  /** Read the output with output(ref), or GET /outputs/{ref}. */
  ref: Scalars['ID']['output'];
  /** Size as JSON in UTF-8; null where it is not known before the output is read. */
  sizeBytes: Maybe<Scalars['Int']['output']>;
  /** The first KiB of the JSON; null where it is not at hand. */
  preview: Maybe<Scalars['String']['output']>;
};

/** A part of the JSON text of an output. */
export type OutputPage = {
  /** That of the output. */
  ref: Scalars['ID']['output'];
  /** Size of the whole as JSON in UTF-8. */
  sizeBytes: Scalars['Int']['output'];
  /** From the first byte asked for to the end of a character. */
  text: Scalars['String']['output'];
  /** Where the next part begins; null when this is the last one. */
  nextOffset: Maybe<Scalars['Int']['output']>;
};

/** What is kept of arguments that are too large to be kept. */
export type ArgumentsPreview = {
  /** Size as JSON in UTF-8. */
  sizeBytes: Scalars['Int']['output'];
  /** SHA-256 of the JSON, in hexadecimal: the same for each attempt. */
  hash: Scalars['String']['output'];
  /** The first KiB of the JSON. */
  text: Scalars['String']['output'];
};

/** What an operator said of a step that needed approval. */
export type Approval = {
  /** The step that waited. */
  stepId: Scalars['ID']['output'];
  /** False when it was refused. */
  approved: Scalars['Boolean']['output'];
  /** What was approved or refused: plan, step, arguments and tool. */
  approvalHash: Scalars['String']['output'];
  /** For people; null without one. */
  reason: Maybe<Scalars['String']['output']>;
  /** Who said so: the name of an API key, the subject of a token, or anonymous. */
  by: Scalars['String']['output'];
  /** When it was said. */
  at: Scalars['DateTime']['output'];
};

/** What an operator said of a step, or an item, that was in doubt. */
export type Resolution = {
  /** key of the step or item. */
  stepKey: Scalars['ID']['output'];
  /** The attempt that was in doubt, from 1. */
  attempt: Scalars['Int']['output'];
  /** What became of the call. */
  resolution: InDoubtResolution;
  /** Who said so: the name of an API key, the subject of a token, or anonymous. */
  by: Scalars['String']['output'];
  /** When it was said. */
  at: Scalars['DateTime']['output'];
};

/** The word of an operator by which a step, or an item, stands as it does. */
export type Settlement = {
  /** What became of the call. */
  resolution: InDoubtResolution;
  /** Who said so: the name of an API key, the subject of a token, or anonymous. */
  by: Scalars['String']['output'];
  /** When it was said. */
  at: Maybe<Scalars['DateTime']['output']>;
};

/** One try of a step. */
export type Attempt = {
  /** From 1. */
  attempt: Scalars['Int']['output'];
  /** Stands in the logs and traces of the executor. */
  attemptId: Scalars['ID']['output'];
  /** The executor that made it. */
  executor: Scalars['String']['output'];
  /** When its intent was recorded, before the call. */
  startedAt: Scalars['DateTime']['output'];
  /** When the call had ended; null while it is under way, and when its executor died. */
  endedAt: Maybe<Scalars['DateTime']['output']>;
  /** Measured by the executor, in milliseconds. */
  durationMs: Maybe<Scalars['Float']['output']>;
  /** completed, failed, aborted or unknown; null while it is under way. */
  outcome: Maybe<Scalars['String']['output']>;
  /** Why it failed; null when it did not. */
  error: Maybe<StepError>;
  /** Present when nothing was sent, since the tool's server could not be reached; null: the call was sent. */
  unsent: Maybe<UnsentTries>;
};

/** Tries in a row that found the tool's server away; they are one attempt, and none of those that maxAttempts counts. */
export type UnsentTries = {
  /** From 1. */
  tries: Scalars['Int']['output'];
  /** When the first of them ended. */
  since: Scalars['DateTime']['output'];
};

/** Why a step or a plan failed. */
export type StepError = {
  /** Decide by this, such as TOOL_TIMEOUT. */
  code: Scalars['String']['output'];
  /** For people. */
  message: Scalars['String']['output'];
  /** True when the same call may succeed later. */
  retryable: Scalars['Boolean']['output'];
  /** What the code means and what to do, for people. */
  remedy: Scalars['String']['output'];
  /** What else the tool or the engine said of it; null without it. */
  data: Maybe<Scalars['JSON']['output']>;
};

/** Why planning failed. */
export type Problem = {
  /** Decide by this, such as NOT_UNDERSTOOD. */
  code: Scalars['String']['output'];
  /** For people. */
  message: Scalars['String']['output'];
  /** What the code means and what to do, for people. */
  remedy: Scalars['String']['output'];
};

/** Steps of a plan by status. The items of a forEach are not counted. */
export type StepCounts = {
  /** Steps of the plan. */
  total: Scalars['Int']['output'];
  /** Done. */
  completed: Scalars['Int']['output'];
  /** Failed for good. */
  failed: Scalars['Int']['output'];
  /** Never started, because of a failure or a condition. */
  skipped: Scalars['Int']['output'];
  /** Ended because someone asked for it. */
  cancelled: Scalars['Int']['output'];
  /** It is not known whether their calls had an effect. */
  inDoubt: Scalars['Int']['output'];
  /** Begun and not over. */
  running: Scalars['Int']['output'];
  /** Not begun. */
  pending: Scalars['Int']['output'];
};

/** One finding about a plan. */
export type Diagnostic = {
  /** Decide by this, such as TOOL_UNKNOWN. */
  code: Scalars['String']['output'];
  /** How much it weighs. */
  severity: DiagnosticSeverity;
  /** The step that it is about; null when it is about the whole plan. */
  stepId: Maybe<Scalars['ID']['output']>;
  /** Place in the plan document, such as steps[2].arguments.authorId. */
  path: Maybe<Scalars['String']['output']>;
  /** What is wrong, where, and what to do. */
  message: Scalars['String']['output'];
  /** The nearest valid choice. */
  suggestion: Maybe<Scalars['String']['output']>;
};

/** What is known of a plan before it is submitted. */
export type PlanValidation = {
  /** True when submitPlan would accept the plan now. */
  valid: Scalars['Boolean']['output'];
  /** The plan in canonical form; null when it cannot be read or is invalid. */
  plan: Maybe<Scalars['JSON']['output']>;
  /** Every finding, errors and warnings. */
  diagnostics: Array<Diagnostic>;
};

/** A server of tools, as an executor last saw it. */
export type ToolServer = {
  /** Its name in the executors' servers file. */
  name: Scalars['String']['output'];
  /** Where the connection stands. */
  state: ToolServerState;
  /** How many tools it offered last; those of an unreachable server stay in the catalogue. */
  tools: Scalars['Int']['output'];
  /** Why it is unreachable; null otherwise. */
  error: Maybe<Scalars['String']['output']>;
  /**
   * The last lines that its process wrote to its standard error while it was not connected, at most 2,000 characters, without control
   * characters and without secrets that are known. Null where there are none, and for callers without the scope operate.
   */
  lastWords: Maybe<Scalars['String']['output']>;
  /** Since when it is connected, or is not. */
  since: Scalars['DateTime']['output'];
  /** When it is tried again; null while it is connected, or is just being tried. */
  nextAttemptAt: Maybe<Scalars['DateTime']['output']>;
};

/** Where the connection to a tool server stands. */
export type ToolServerState =
  /** Its tools can be called. */
  | 'CONNECTED'
  /** It is being connected to for the first time. */
  | 'CONNECTING'
  /** It did not come up, or is gone; it is tried again by itself. */
  | 'UNREACHABLE';

/** A tool that plans may use. */
export type Tool = {
  /** Name in plans: the server's own, or server/tool where two servers offer the same one. */
  name: Scalars['String']['output'];
  /** Server that offers it. */
  server: Scalars['String']['output'];
  /** For people; null where the server gives none. */
  title: Maybe<Scalars['String']['output']>;
  /** What the server says of it; empty where it says nothing. */
  description: Scalars['String']['output'];
  /** As declared by the tool; otherwise its server's name. */
  category: Scalars['String']['output'];
  /** JSON Schema of the arguments. */
  inputSchema: Scalars['JSON']['output'];
  /** The same, as it is called where functions are declared. */
  parameters: Scalars['JSON']['output'];
  /** JSON Schema of the structured output. */
  outputSchema: Maybe<Scalars['JSON']['output']>;
  /** What the caller's own runs have shown of its outputs, where no schema says it all; null before the first of them. */
  observedOutput: Maybe<ObservedOutput>;
  /** Hints of the server, such as readOnlyHint. */
  annotations: Maybe<Scalars['JSON']['output']>;
  /** What the tool is held to promise about parallelism, order, repeats and errors. */
  contract: Scalars['JSON']['output'];
  /** The same field by field: what is believed, and why. */
  contractReport: ContractReport;
};

/** What a tool is held to promise, with the reasons. */
export type ContractReport = {
  /** In a fixed order; optional fields without a value are left out. */
  fields: Array<ContractField>;
  /** Declarations that cannot be read, a sentence each. */
  problems: Array<Scalars['String']['output']>;
};

/** One field of a contract. */
export type ContractField = {
  /** As it is called in contract. */
  name: Scalars['String']['output'];
  /** The value that holds. */
  value: Scalars['JSON']['output'];
  /** override (the operator), meta, top-level, inputSchema, annotations (all of them the server's words), or default. */
  source: Scalars['String']['output'];
  /** In words, such as: readOnlyHint of server shop, believed. */
  why: Scalars['String']['output'];
};

/** What outputs of a tool looked like so far: names and types, never values. It promises nothing. */
export type ObservedOutput = {
  /** Outputs that were looked at since the tool last changed. */
  outputs: Scalars['Int']['output'];
  /** JSON Schema of them: required is what was there each time, x-seen says how often a place was there. */
  schema: Scalars['JSON']['output'];
};

/** One call of a chat model. */
export type ModelCall = {
  /** Unique over all requests. */
  id: Scalars['ID']['output'];
  /** draft, repair, fast-path, replan or answer. */
  purpose: Scalars['String']['output'];
  /** provider:model, or offline. */
  model: Scalars['String']['output'];
  /** What was sent, without secrets; long texts are cut. */
  messages: Array<ModelMessage>;
  /** What came back, without secrets; empty when nothing did. */
  answer: Scalars['String']['output'];
  /** Why the model stopped, in the words of the provider; null when it did not say. */
  finishReason: Maybe<Scalars['String']['output']>;
  /** As the provider counted them; null when it did not. */
  inputTokens: Maybe<Scalars['Int']['output']>;
  /** As the provider counted them; null when it did not. */
  outputTokens: Maybe<Scalars['Int']['output']>;
  /** Those of inputTokens that the provider had from an earlier call. */
  cachedInputTokens: Maybe<Scalars['Int']['output']>;
  /** From sending to the last word, in milliseconds. */
  latencyMs: Scalars['Float']['output'];
  /** Null when the price of the model is not known. */
  costUsd: Maybe<Scalars['Float']['output']>;
  /** priced: by the provider's count; estimated: by ours; unpriced: the price is not known; none: no call of a model. */
  pricing: Scalars['String']['output'];
  /** Try of this model for the same answer, from 1. */
  attempt: Scalars['Int']['output'];
  /** Code of the failure for which the fallback model was asked; null for the first model. */
  fallbackFor: Maybe<Scalars['String']['output']>;
  /** What was set aside before the call; null where no limit is kept. */
  reserved: Maybe<ModelSpending>;
  /** What the call counts for; null until it has ended. */
  spent: Maybe<ModelSpending>;
  /** Why it failed; null when it did not. */
  error: Maybe<Problem>;
  /** When it was sent. */
  createdAt: Scalars['DateTime']['output'];
  /** Null while the call is under way, and for good when its planner died: it then counts for what was set aside. */
  endedAt: Maybe<Scalars['DateTime']['output']>;
};

/**
 * Most that the calls of models for one request may take. A call that might exceed it is not made: the request ends with
 * BUDGET_EXCEEDED, which names the limit, what was used, and what to do.
 */
export type ModelLimitsInput = {
  /** Calls that were answered, or may have been. */
  maxModelCalls?: InputMaybe<Scalars['Int']['input']>;
  /** Tokens of prompts and answers. */
  maxTokens?: InputMaybe<Scalars['Int']['input']>;
  /** US dollars. Models of unknown price are then not called: MODEL_UNPRICED. */
  maxCostUsd?: InputMaybe<Scalars['Float']['input']>;
};

/** Most that the calls of models for one request may take; null: no limit. */
export type ModelLimits = {
  /** Calls that were answered, or may have been. */
  maxModelCalls: Maybe<Scalars['Int']['output']>;
  /** Tokens of prompts and answers. */
  maxTokens: Maybe<Scalars['Int']['output']>;
  /** US dollars. */
  maxCostUsd: Maybe<Scalars['Float']['output']>;
};

/** What calls of models took, or may take. */
export type ModelSpending = {
  /** Calls that were answered, or may have been. */
  modelCalls: Scalars['Int']['output'];
  /** Tokens of prompts and answers. */
  tokens: Scalars['Int']['output'];
  /** Of models whose price is known. */
  costUsd: Scalars['Float']['output'];
};

/** Where a request stands with its limits. */
export type ModelUse = {
  /** Most that they may take. */
  limits: ModelLimits;
  /** By calls that have ended. */
  spent: ModelSpending;
  /** Set aside for calls under way, and for calls whose planner died. */
  reserved: ModelSpending;
};

/** One message of a model call. */
export type ModelMessage = {
  /** system, user or assistant. */
  role: Scalars['String']['output'];
  /** Its text. */
  content: Scalars['String']['output'];
};

/** One page of requests. */
export type RequestConnection = {
  /** The requests of the page with their cursors. */
  edges: Array<RequestEdge>;
  /** The requests of the page, without their cursors. */
  nodes: Array<Request>;
  /** Where the page begins and ends. */
  pageInfo: PageInfo;
};

/** One request on a page. */
export type RequestEdge = {
  /** Opaque: give it as after to go on behind this request. */
  cursor: Scalars['String']['output'];
  /** The request. */
  node: Request;
};

/** One page of the steps and items of a plan. */
export type StepConnection = {
  /** The steps and items of the page with their cursors. */
  edges: Array<StepEdge>;
  /** The steps and items of the page, without their cursors. */
  nodes: Array<Step>;
  /** Where the page begins and ends. */
  pageInfo: PageInfo;
  /** How many fit, on all pages; counted when it is asked for. */
  totalCount: Scalars['Int']['output'];
};

/** One step or item on a page. */
export type StepEdge = {
  /** Opaque: give it as after to go on behind this step or item. */
  cursor: Scalars['String']['output'];
  /** The step or item. */
  node: Step;
};

/** One page of the versions of a plan. */
export type PlanConnection = {
  /** The versions of the page with their cursors. */
  edges: Array<PlanEdge>;
  /** The versions of the page, without their cursors. */
  nodes: Array<Plan>;
  /** Where the page begins and ends. */
  pageInfo: PageInfo;
};

/** One version on a page. */
export type PlanEdge = {
  /** Opaque: give it as after to go on behind this version. */
  cursor: Scalars['String']['output'];
  /** The version. */
  node: Plan;
};

/** One page of the calls of models for a request. */
export type ModelCallConnection = {
  /** The calls of the page with their cursors. */
  edges: Array<ModelCallEdge>;
  /** The calls of the page, without their cursors. */
  nodes: Array<ModelCall>;
  /** Where the page begins and ends. */
  pageInfo: PageInfo;
};

/** One call on a page. */
export type ModelCallEdge = {
  /** Opaque: give it as after to go on behind this call. */
  cursor: Scalars['String']['output'];
  /** The call. */
  node: ModelCall;
};

/** One page of what happened to a request. */
export type JournalEventConnection = {
  /** The events of the page with their cursors. */
  edges: Array<JournalEventEdge>;
  /** The events of the page, without their cursors. */
  nodes: Array<JournalEvent>;
  /** Where the page begins and ends. */
  pageInfo: PageInfo;
};

/** One event on a page. */
export type JournalEventEdge = {
  /** Opaque: give it as after to go on behind this event. */
  cursor: Scalars['String']['output'];
  /** The event. */
  node: JournalEvent;
};

/**
 * One thing that happened to a request, as its journal tells it. The journal of a sentence begins when a planner takes it; that of a submitted plan
 * when an executor takes the plan, or when a client asks something of it. Outputs and arguments are not told here, only their sizes: read them with the
 * steps. Nor is what models were asked and answered, see modelCalls; nor what users answered, see answers.
 */
export type JournalEvent = {
  /** Unique over all requests. */
  id: Scalars['ID']['output'];
  /** The entry that tells it, from 1; the entries of a request follow each other without a gap. */
  seq: Scalars['Int']['output'];
  /** Its place in the entry, from 0. The events of one entry became true together, and happened in this order. */
  position: Scalars['Int']['output'];
  /** When the entry was made. */
  at: Scalars['DateTime']['output'];
  /** Who made the entry. */
  by: JournalWriter;
  /** The version of the plan that it is about; for planning the one that was current then, which may not be stored yet. */
  planId: Scalars['ID']['output'];
  /**
   * What happened: planning.began, model.called, model.answered, question.asked, answer.given, execution.planned, replan.asked, planning.failed,
   * planning.cancelled, results.told, plan.stored, execution.asked, lease.taken, lease.released, attempt.started, attempt.ended, items.expanded,
   * step.changed, approval.given, doubt.resolved, cancel.asked, pause.asked, resume.asked, or plan.ended. Later versions may tell of more.
   */
  type: Scalars['String']['output'];
  /** The step that it is about; null when it is about the whole plan, or about planning. */
  stepId: Maybe<Scalars['ID']['output']>;
  /** key of the step or item; null when it is about the whole plan, or about several items: facts.units names those. */
  key: Maybe<Scalars['ID']['output']>;
  /** Of a call, or of a doubt that is settled: which attempt of the step, from 1. Otherwise null. */
  attempt: Maybe<Scalars['Int']['output']>;
  /** Where the step stands since then, or the plan; null for an event that is no change of a status. */
  status: Maybe<Scalars['String']['output']>;
  /** Why the step or the call failed, the plan, or planning; null when it did not. Its data is null here: read it with the step. */
  error: Maybe<StepError>;
  /** Why the step or the plan waits, or what an operator gave as the reason of an approval; null without one. */
  reason: Maybe<Scalars['String']['output']>;
  /**
   * What else is known of it, by type. Lists hold 100 at most; their lengths are beside them. Sizes are in bytes of JSON.
   * plan.stored: version, isValid, carried, carriedCount, settled, settledCount, unanswered, unansweredCount. lease.taken: worker, epoch, from.
   * lease.released: dueAt. attempt.started: attemptId, units, unitsCount, tool, effectClass, mayAct, isLookup, argsHash, argumentsBytes, startedAt.
   * attempt.ended: attemptId, units, unitsCount, outcome, endedAt, durationMs, isUnsent. items.expanded: count. step.changed: outputBytes,
   * isOutputAside, warnings, warningsCount, nextAttemptAt, mayHaveActed, approved, settled, approvalHash, argumentsBytes.
   * approval.given: approved, approvalHash. doubt.resolved: resolution. planning.began: worker, epoch, work, from.
   * model.called: callId, purpose, model, reserved. model.answered: callId, spent. question.asked: questions, questionsCount.
   * answer.given: questionIds, questionIdsCount, givesUpDraft. replan.asked: note, execute. Of a question or a note 200 characters are told.
   */
  facts: Scalars['JSON']['output'];
};

/** What the journal of a request told at one of its entries. */
export type RequestAt = {
  /** The request. */
  requestId: Scalars['ID']['output'];
  /** The last entry that counts; 0: none. */
  seq: Scalars['Int']['output'];
  /** When that entry was made; null for none. */
  at: Maybe<Scalars['DateTime']['output']>;
  /** The version that was current then; null before the journal tells of one. */
  plan: Maybe<PlanAt>;
};

/** A plan that was put in the place of another one, and what becomes of what had completed. The lists are null where its key made the version before. */
export type Amendment = {
  /** The request, with its new version. */
  request: Request;
  /** Ids of steps that completed and are carried over with their outputs: they are never called again. */
  carried: Maybe<Array<Scalars['ID']['output']>>;
  /** Of steps with side effects that completed: those that are called again, since they are others, or use what is another one. */
  repeated: Maybe<Array<Scalars['ID']['output']>>;
  /** And those that are not: what they did stays as it is. */
  notRepeated: Maybe<Array<Scalars['ID']['output']>>;
};

/** One version of a plan as the journal of its request told it at one of its entries. What never changes, such as document, is read with plan(id). */
export type PlanAt = {
  /** plan_{unix seconds}_{random}. */
  planId: Scalars['ID']['output'];
  /** From 1. */
  version: Scalars['Int']['output'];
  /** Where it stood; null before an entry tells that it was started: that of executePlan is told with the entry that follows it. */
  status: Maybe<PlanStatus>;
  /** Why it failed; its data is null here. */
  error: Maybe<StepError>;
  /** Its steps by status. */
  counts: StepCounts;
  /** Steps in plan order, each followed by the items of its forEach that were known, all at once: filter makes them few. */
  steps: Array<StepAt>;
  /** When the first entry of an executor was made; null before. */
  startedAt: Maybe<Scalars['DateTime']['output']>;
  /** When the entry of its end was made; null before. */
  finishedAt: Maybe<Scalars['DateTime']['output']>;
};


/** One version of a plan as the journal of its request told it at one of its entries. What never changes, such as document, is read with plan(id). */
export type PlanAtStepsArgs = {
  filter?: InputMaybe<StepFilter>;
};

/**
 * A step, or one item of a forEach step, as the journal told it at one of its entries. Outputs and arguments are read with the steps of the plan: the
 * output of one that is COMPLETED never changes.
 */
export type StepAt = {
  /** Name of the step inside its plan. The items of a forEach share it. */
  id: Scalars['ID']['output'];
  /** Unique inside the plan: the step's id, with [index] for an item of a forEach. */
  key: Scalars['String']['output'];
  /** Position in the list, for an item of a forEach. */
  item: Maybe<Scalars['Int']['output']>;
  /** Name of the tool in the plan: its own, or server/tool. */
  tool: Scalars['String']['output'];
  /** Where the step stood. */
  status: StepStatus;
  /** Steps that must be final first: the ones named by the plan and the ones referred to. */
  dependsOn: Array<Scalars['ID']['output']>;
  /** Why it had not started, as far as the journal tells: dependency, limit, backoff, approval, in doubt; otherwise null. */
  waitReason: Maybe<Scalars['String']['output']>;
  /** Why it failed, was skipped, or was in doubt; its data is null here. */
  error: Maybe<StepError>;
  /** True once an operator had approved it. */
  approved: Scalars['Boolean']['output'];
  /** The plan that executed it, for a step that was carried over from an earlier version. */
  carriedFrom: Maybe<Scalars['ID']['output']>;
  /** What did not keep it from running. */
  warnings: Array<Scalars['String']['output']>;
  /** K, R, V or U: what may be done with a call whose fate is unknown; null before the first call. */
  effectClass: Maybe<Scalars['String']['output']>;
  /** Its tries so far, oldest first; the data of their errors is null here. */
  attempts: Array<Attempt>;
  /** When the next attempt was due, while RETRYING. */
  nextAttemptAt: Maybe<Scalars['DateTime']['output']>;
  /** When its first attempt began; null before. */
  startedAt: Maybe<Scalars['DateTime']['output']>;
  /** When it was over; null before. */
  finishedAt: Maybe<Scalars['DateTime']['output']>;
  /** From the start of the first attempt to the end of the last, in milliseconds; null while it was not over. */
  durationMs: Maybe<Scalars['Float']['output']>;
};

/** Who made an entry of a journal. */
export type JournalWriter = {
  /** api, planner or executor. */
  kind: Scalars['String']['output'];
  /** Of a worker its name; of what a client or operator asked for who asked. */
  id: Scalars['String']['output'];
};

/** Where a page begins and ends. */
export type PageInfo = {
  /** True when more follow: give endCursor as after. */
  hasNextPage: Scalars['Boolean']['output'];
  /** Always false: pages go forward only. */
  hasPreviousPage: Scalars['Boolean']['output'];
  /** Cursor of the first one; null on an empty page. */
  startCursor: Maybe<Scalars['String']['output']>;
  /** Where the next page goes on; null when nothing was looked at. */
  endCursor: Maybe<Scalars['String']['output']>;
};

/** One step in the shape of the older API. */
export type SelectedTool = {
  /** Tool of the step. */
  toolName: Scalars['String']['output'];
  /** The same as toolName. */
  name: Scalars['String']['output'];
  /** Arguments as planned, as JSON text. */
  parameters: Scalars['String']['output'];
  /** Tool of the last step it depends on; null without one. */
  dependsOn: Maybe<Scalars['String']['output']>;
  /** Id of the step. */
  stepId: Scalars['ID']['output'];
};

/** How the execution of a request's plan stands, in the shape of the older API. */
export type Execution = {
  /** The same as planId. */
  id: Scalars['ID']['output'];
  /** The request. */
  requestId: Scalars['ID']['output'];
  /** The plan that is executed. */
  planId: Scalars['ID']['output'];
  /** pending, in-progress, completed or failed. */
  executionState: Scalars['String']['output'];
  /** Where the plan stands. */
  status: PlanStatus;
  /** Steps in the plan. */
  totalExecutions: Scalars['Int']['output'];
  /** Steps that completed. */
  successful: Scalars['Int']['output'];
  /** Steps that failed for good. */
  failed: Scalars['Int']['output'];
  /** Never started, because of a failure, a condition or a cancellation. */
  skipped: Scalars['Int']['output'];
  /**
   * JSON text: a list of { stepId, toolName, status, success, parameters, output, error, durationMs } in plan order. In the place of an output that
   * is too large stands { ref, sizeBytes, preview }, here and in outputs.
   */
  results: Scalars['String']['output'];
  /** JSON text: an object, outputs by tool name; by step id for tools that the plan uses more than once. */
  outputs: Scalars['String']['output'];
  /** What went wrong, one text for each failure. */
  errors: Array<Scalars['String']['output']>;
  /** The plan itself. */
  plan: Plan;
  /** When the plan was stored. */
  createdAt: Scalars['DateTime']['output'];
  /** When the plan was last written. */
  updatedAt: Scalars['DateTime']['output'];
};
