export { API_ERROR_CODES, type ApiErrorCode } from "./errors/api-errors.ts";
export { SDL } from "./graphql/sdl.ts";
export type { ApiLogger, WorkOffers } from "./parts.ts";
export { type Api, type ApiParts, startApi } from "./start-api.ts";
