import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { queryClient } from "./api/queries";
import "./app.css";
import { router } from "./router";
import { Door } from "./shell/Door";

const place = document.getElementById("root");
if (!place) throw new Error("the page has no root");
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <Door>
        <RouterProvider router={router} />
      </Door>
    </QueryClientProvider>
  </StrictMode>,
);

if ("serviceWorker" in navigator) {
  addEventListener("load", () => void navigator.serviceWorker.register("/sw.js"));
}
