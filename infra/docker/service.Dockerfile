# syntax=docker/dockerfile:1
# The image of a service: docker build -f infra/docker/service.Dockerfile --build-arg SERVICE=planwright -t planwright .
FROM node:24-bookworm-slim AS build
ENV TURBO_TELEMETRY_DISABLED=1
WORKDIR /app
COPY package.json package-lock.json .npmrc turbo.json tsconfig.base.json LICENSE ./
COPY infra/scripts ./infra/scripts
COPY packages ./packages
COPY services ./services
# With optional packages: the bundler and turbo are programs of their own for each platform.
RUN npm ci --loglevel=error && npx turbo run bundle --output-logs=errors-only && node infra/scripts/pack.mjs

FROM node:24-bookworm-slim
ARG SERVICE
ENV NODE_ENV=production HOST=0.0.0.0 SERVICE=${SERVICE}
WORKDIR /app
# What npm publishes: the bundled programs and the console. They need no other packages.
COPY --from=build --chown=node:node /app/packages/cli/package ./
# Compiled code of the same Node: the service starts in a quarter of the processor time.
COPY --from=build --chown=node:node /app/services/${SERVICE}/dist/*.cache ./services/${SERVICE}/dist/
USER node
WORKDIR /app/services/${SERVICE}
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=3s --start-period=20s --retries=6 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.HEALTH_PORT ?? process.env.PORT}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Much passes through, little stays: a small young generation is emptied again and again.
CMD ["node", "--max-semi-space-size=32", "dist/main.js"]
