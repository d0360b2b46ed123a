import { createClient } from "@planwright/client";
import { plan } from "./plan.js";

const client = createClient({ url: process.env["PLANWRIGHT_URL"] ?? "http://127.0.0.1:4000/graphql" });
const { requestId, status, plan: ended, diagnosis } = await client.run(plan);
console.log(`${requestId}  ${status}`);
if (status === "COMPLETED") console.log(JSON.stringify(ended?.outputs));
else console.log(`${diagnosis.cause.message}\nWhat to do: npx planwright debug ${requestId}`);
process.exitCode = status === "COMPLETED" ? 0 : 1;
