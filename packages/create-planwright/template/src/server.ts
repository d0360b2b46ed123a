import { serveStdio } from "@planwright/tool-kit";
import { createTools } from "./tools.js";

// Standard output belongs to the protocol: print nothing to it.
serveStdio(createTools(process.argv[2] ?? "orders.jsonl"), { name: "shop" });
