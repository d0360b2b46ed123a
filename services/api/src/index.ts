export { API_ERROR_CODES, type ApiErrorCode } from "./errors/api-error.ts";
export type { ApiLogger } from "./errors/telemetry.ts";
export { SDL } from "./graphql/sdl.ts";
export { type Api, type ApiDependencies, readApi, serveApi, startApi } from "./start-api.ts";
