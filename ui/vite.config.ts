import { defineConfig } from "vite";

// `npm run dev` shows the page of this directory over a server that runs already: TIDEGATE_SERVER=http://127.0.0.1:8470
const server = process.env["TIDEGATE_SERVER"] ?? "http://127.0.0.1:8470";

export default defineConfig({
    build: {
        outDir: "../src/tidegate/page",
        emptyOutDir: true,
        target: "es2022",
        // Inlined files would need a weaker Content-Security-Policy.
        assetsInlineLimit: 0,
        modulePreload: { polyfill: false },
    },
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
    server: { proxy: { "/v1": server } },
});
