import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** The API for `npm run dev` of this package; the built page calls the API that serves it. */
const API = process.env["API_URL"] ?? "http://127.0.0.1:4000";

export default defineConfig({
  base: "/console/",
  plugins: [react()],
  // GraphiQL, which the API serves too, depends on older versions; npm installs them where libraries find
  // them first.
  resolve: {
    dedupe: ["react", "react-dom", "@codemirror/language"],
    conditions: ["@planwright/source", "module", "browser", "development|production"],
  },
  build: {
    // The Content-Security-Policy of the page allows only its own files: no file is inlined as data.
    assetsInlineLimit: 0,
    target: "es2023",
  },
  worker: { format: "es" },
  server: { proxy: { "/graphql": API, "/outputs": API, "/healthz": API } },
});
