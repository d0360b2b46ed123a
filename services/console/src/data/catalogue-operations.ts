import { graphql, type ResultOf } from "@planwright/client";

/** The tools that plans may use, and the servers that offer them. */
export const READ_CATALOGUE = graphql(`
    query Catalogue {
      getAvailableTools {
        name
        server
        title
        description
        category
        inputSchema
        outputSchema
        annotations
        observedOutput {
          outputs
          schema
        }
        listedAt
        disconnectedSince
        calls {
          count
          failures
          p50Ms
          p99Ms
          lastAt
          errors {
            code
            count
          }
        }
        contractReport {
          problems
          fields {
            name
            value
            source
            why
          }
        }
      }
      toolServers {
        name
        state
        tools
        leftOut {
          tool
          reason
        }
        leftOutCount
        error
        stderrTail
        since
        nextAttemptAt
        signIn {
          isNeeded
          url
          since
          expiresAt
          error
        }
      }
    }
`);

/** A tool with its contract, and how its recent calls ended. */
export type CatalogueTool = ResultOf<typeof READ_CATALOGUE>["getAvailableTools"][number];

/** A tool server with the state of its connection. */
export type ServerFacts = ResultOf<typeof READ_CATALOGUE>["toolServers"][number];

/** Suggests contracts for the tools of a server, and asks a model if there is one. */
export const SUGGEST_CONTRACTS = graphql(`
    mutation SuggestContracts($server: String!) {
      suggestContracts(server: $server) {
        state
        note
        tools {
          tool
          fields {
            field
            value
            reason
            source
            against
          }
        }
      }
    }
`);

/** Suggested contracts, and what came of asking a model. */
export type ContractSuggestions = ResultOf<typeof SUGGEST_CONTRACTS>["suggestContracts"];

/** The workers, and the work that waits for them. */
export const READ_FLEET = graphql(`
    query Fleet {
      fleet {
        at
        workers {
          name
          kind
          takesWork
          hasModel
          startedAt
          seenAt
          silentMs
          holds
        }
        lostWorkers {
          name
          kind
          startedAt
          seenAt
          deadAt
          leasesLost
        }
        plans {
          due
          oldest {
            since
            ageMs
            requestId
          }
        }
        requests {
          due
          oldest {
            since
            ageMs
            requestId
          }
        }
      }
    }
`);

/** The workers, and the work that waits for them, at one moment. */
export type FleetFacts = ResultOf<typeof READ_FLEET>["fleet"];

/** The requests of the caller's tenant: running, waiting, and ended recently. */
export const READ_WORKLOAD = graphql(`
    query Workload {
      workload {
        ended
        failed
        running
        waiting
        oldestWaiting {
          ageMs
          requestId
        }
      }
    }
`);

/** The workload at one moment. */
export type WorkloadFacts = ResultOf<typeof READ_WORKLOAD>["workload"];

/** The names of the tools and servers, without contracts, schemas and calls. */
export const READ_OFFER = graphql(`
    query Offer {
      getAvailableTools {
        name
        server
        title
        annotations
      }
      toolServers {
        name
      }
    }
`);
