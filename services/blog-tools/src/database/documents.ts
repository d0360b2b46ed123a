import type { ObjectId } from "mongodb";

/** Fields of every document of this service. */
export interface StoredDocument {
  _id: ObjectId;
  createdAt: Date;
  updatedAt: Date;
  /** Present when it was created under an idempotency key. */
  creation?: Creation | undefined;
  /**
   * Present when it was deleted. Then only `_id`, `creation` and this field remain, so that repeats of both
   * calls still get their answer. The document is removed after 7 days.
   */
  deletion?: Deletion | undefined;
}

/** The call that created a document. It is written together with the document, so both exist or neither. */
export interface Creation {
  /** The caller's idempotency key, unique in its collection. */
  key: string;
  /**
   * SHA-256 of the arguments, to distinguish a repeat from another call that uses the same key by mistake.
   */
  argumentsHash: string;
  /** The answer of the first call. */
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
  /** Unique, ignoring upper and lower case. */
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
