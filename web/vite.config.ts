import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [react(), tailwind()],
  build: {
    outDir: "../src/astra/interfaces/web/dist",
    emptyOutDir: true,
    manifest: true,
    // Data URLs would need a wider Content-Security-Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            // In one piece it is smaller, and stays in the browser's cache over updates of Astra.
            { name: "react", test: /node_modules\/(react|react-dom|scheduler|@tanstack)\// },
          ],
        },
      },
    },
  },
  test: { environment: "happy-dom", pool: "vmThreads", include: ["src/**/*.test.{ts,tsx}"] },
});
