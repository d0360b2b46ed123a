import type { ObjectId } from "mongodb";

/** What every document of this service has. */
export interface StoredDocument {
  _id: ObjectId;
  createdAt: Date;
  updatedAt: Date;
  /** Present when it was created under an idempotency key. */
  creation?: Creation | undefined;
  /**
   * Present when it was deleted. Only `_id`, `creation` and this remain then, so that repeats of both calls
   * still find their answer. The document is removed after 7 days.
   */
  deletion?: Deletion | undefined;
}

/** The call that created a document. Both are written in one write, so both exist or neither. */
export interface Creation {
  /** The caller's idempotency key, unique in its collection. */
  key: string;
  /** SHA-256 of the arguments, to tell a repeat from another call that uses the same key by mistake. */
  argumentsHash: string;
  /** What the first call answered. */
  result: Record<string, unknown>;
  /** How often the call was repeated. */
  repeats: number;
}

/** The call that deleted a document. */
export interface Deletion {
  key: string | null;
  at: Date;
}

export interface AuthorDocument extends StoredDocument {
  name: string;
  /** Unique, whatever the case of its letters. */
  email: string;
}

export interface BlogDocument extends StoredDocument {
  title: string;
  content: string;
  authorId: ObjectId;
}

export interface CommentDocument extends StoredDocument {
  blogId: ObjectId;
  authorId: ObjectId;
  content: string;
}

export interface PictureDocument extends StoredDocument {
  blogId: ObjectId;
  url: string;
  caption: string | null;
}
