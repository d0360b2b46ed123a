import type { RequestHandler } from "express";
import { sendError } from "../errors/http-errors.ts";

const METHODS = "GET, POST, OPTIONS";

/** Accepts only the requests of GraphQL over HTTP: GET, and POST with a JSON body. */
export const acceptGraphql: RequestHandler = (request, response, next) => {
  if (request.method === "OPTIONS") return void response.set("allow", METHODS).status(204).end();
  if (request.method === "GET") return next();
  if (request.method !== "POST") {
    response.set("allow", METHODS);
    return sendError(response, 405, {
      code: "METHOD_NOT_ALLOWED",
      message: `${request.method} is not supported here`,
      remedy: "Send GraphQL as POST, or a query as GET.",
    });
  }
  if (request.is("application/json") === "application/json") return next();
  sendError(response, 415, {
    code: "UNSUPPORTED_MEDIA_TYPE",
    message: "The body must be JSON",
    remedy: "Set content-type: application/json.",
  });
};
