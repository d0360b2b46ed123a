/** Time when a worker counts as silent, by the clock of MongoDB. */
const silentSince = { $add: ["$seenAt", "$deadAfterMs"] };

/** Expression: the worker was silent for so long that it may be declared dead, and that was not done yet. */
export const isSilent = { $and: [{ $eq: ["$deadAt", null] }, { $lte: [silentSince, "$$NOW"] }] };

/** Expression: the worker is alive. */
export const isLive = { $and: [{ $eq: ["$deadAt", null] }, { $gt: [silentSince, "$$NOW"] }] };
