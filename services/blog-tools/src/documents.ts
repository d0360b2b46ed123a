import type { ObjectId } from "mongodb";

/** What every document of this service has. */
interface Dated {
  _id: ObjectId;
  createdAt: Date;
  updatedAt: Date;
}

export interface AuthorDocument extends Dated {
  name: string;
  /** Unique, whatever the case of its letters. */
  email: string;
}

export interface BlogDocument extends Dated {
  title: string;
  content: string;
  authorId: ObjectId;
}

export interface CommentDocument extends Dated {
  blogId: ObjectId;
  authorId: ObjectId;
  content: string;
}

export interface PictureDocument extends Dated {
  blogId: ObjectId;
  url: string;
  caption: string | null;
}

/**
 * An effect that was made under an idempotency key. Written in the transaction that makes the effect: both are there,
 * or neither is.
 */
export interface EffectDocument {
  /** The caller's idempotency key. */
  _id: string;
  tool: string;
  /** SHA-256 of the arguments, to tell a repeat from another call that uses the same key by mistake. */
  argumentsHash: string;
  /** What the first call answered. */
  result: Record<string, unknown>;
  createdAt: Date;
}
