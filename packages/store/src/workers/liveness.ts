/** Expressions over documents of workers, by the clock of MongoDB. */
const silentSince = { $add: ["$seenAt", "$deadAfterMs"] };

/** That a worker was not declared dead, and was silent for so long that it may be. */
export const isSilent = { $and: [{ $eq: ["$deadAt", null] }, { $lte: [silentSince, "$$NOW"] }] };

/** That a worker is known to live. */
export const isLive = { $and: [{ $eq: ["$deadAt", null] }, { $gt: [silentSince, "$$NOW"] }] };
