import type { RequestHandler } from "express";
import { sendError } from "../errors/http-errors.ts";

const METHODS = "GET, HEAD, OPTIONS";

/** Accepts only GET and HEAD. */
export const acceptReading: RequestHandler = (request, response, next) => {
  if (request.method === "GET" || request.method === "HEAD") return next();
  response.set("allow", METHODS);
  if (request.method === "OPTIONS") return void response.status(204).end();
  sendError(response, 405, {
    code: "METHOD_NOT_ALLOWED",
    message: `${request.method} is not supported here`,
    remedy: "Read an output with GET.",
  });
};
