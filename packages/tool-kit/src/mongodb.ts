import type { ClientSession, Collection, Db, WriteConcernSettings } from "mongodb";
import type { CallContext } from "./define-tool.ts";
import { type AnswerStore, answerFor, answerText, callDigest, type KeptAnswer, noAnswer } from "./once.ts";

/** Where answers are kept. */
interface MongoAnswersOptions {
  /** Default `toolAnswers`. */
  collection?: string;
  /**
   * How long a key is kept, in seconds. Default 7 days. To change it later, drop the index `at` of the
   * collection.
   */
  keepSeconds?: number;
}

/** The answer of one call; `_id` is the idempotency key. */
interface AnswerDocument extends KeptAnswer {
  _id: string;
  at: Date;
  /** How often it was asked for. */
  repeats: number;
}

const DURABLE: { writeConcern: WriteConcernSettings } = { writeConcern: { w: "majority", journal: true } };
const DUPLICATE_KEY = 11_000;

/** Keeps answers in MongoDB, for `once`: tools whose effects are outside of this database. */
export function mongoAnswers(db: Db, options: MongoAnswersOptions = {}): AnswerStore {
  const open = answersOf(db, options);
  return {
    async take(key, call) {
      const answers = await open();
      const first = { call, answer: null, at: new Date() };
      // Every take writes, so that what it returns is durable too: a majority has this write and those before.
      const update = { $setOnInsert: first, $inc: { repeats: 1 } };
      const options = { upsert: true, returnDocument: "before", ...DURABLE } as const;
      return (await answers.findOneAndUpdate({ _id: key }, update, options)) ?? undefined;
    },
    async settle(key, answer) {
      const answers = await open();
      if (answer === undefined) await answers.deleteOne({ _id: key, answer: null }, DURABLE);
      else await answers.updateOne({ _id: key }, { $set: { answer } }, DURABLE);
    },
  };
}

/**
 * Wraps the `run` of a tool whose effects are in this database (a replica set): the key, the effect and the
 * answer are one transaction. So a call acts exactly once for each key: a crash or an error at any point
 * leaves all three or none, and a repeat gets the answer or runs. Of concurrent calls with one key one
 * commits, and all get its answer. A refusal is not kept.
 *
 * After a crash MongoDB holds what the transaction had locked for up to a minute; repeats wait meanwhile.
 *
 * @param run - passes `session` to every operation. It may run more than once before it commits, so it has no
 *   effect outside of the session
 */
export function onceInTransaction<Input, Output extends object>(
  db: Db,
  run: (input: Input, context: CallContext, session: ClientSession) => Promise<Output>,
  options: MongoAnswersOptions = {},
): (input: Input, context: CallContext) => Promise<Output> {
  const open = answersOf(db, options);
  return async (input, context) => {
    const { key, tool, signal } = context;
    const answers = await open();
    const call = callDigest(context);
    let isTaken = false;
    const act = async (session: ClientSession): Promise<Output> => {
      signal.throwIfAborted();
      isTaken = false;
      const first = { call, answer: null, at: new Date(), repeats: 0 };
      if (key !== undefined) await answers.insertOne({ _id: key, ...first }, { session });
      isTaken = true;
      const output = await run(input, context, session);
      const answer = answerText(output);
      if (key !== undefined) await answers.updateOne({ _id: key }, { $set: { answer } }, { session });
      return output;
    };
    for (;;) {
      signal.throwIfAborted();
      const kept = key === undefined ? null : await findKept(answers, key);
      if (kept !== null) {
        const answer = answerFor(call, kept, context);
        // Only `once` in the same collection leaves a key without an answer.
        if (answer === null) throw noAnswer(tool);
        return JSON.parse(answer) as Output;
      }
      try {
        return await db.client.withSession((session) =>
          session.withTransaction(() => act(session), { readConcern: { level: "snapshot" }, ...DURABLE }),
        );
      } catch (error) {
        // Otherwise another call with this key has committed meanwhile.
        if (isTaken || !isDuplicateKey(error)) throw error;
      }
    }
  };
}

/** The answer under a key, durable when it returns: see the write of `take`. */
function findKept(answers: Collection<AnswerDocument>, key: string): Promise<AnswerDocument | null> {
  return answers.findOneAndUpdate({ _id: key }, { $inc: { repeats: 1 } }, DURABLE);
}

function isDuplicateKey(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === DUPLICATE_KEY;
}

/** Gives the collection, with its index. A failure to create the index is tried again by the next call. */
function answersOf(
  db: Db,
  { collection = "toolAnswers", keepSeconds = 7 * 24 * 3_600 }: MongoAnswersOptions,
): () => Promise<Collection<AnswerDocument>> {
  const answers = db.collection<AnswerDocument>(collection);
  let created: Promise<unknown> | undefined;
  return async () => {
    created ??= answers.createIndex({ at: 1 }, { name: "at", expireAfterSeconds: keepSeconds });
    try {
      await created;
    } catch (error) {
      created = undefined;
      throw error;
    }
    return answers;
  };
}
