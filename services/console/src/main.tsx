import "./parts/tokens.css";
import "./parts/console.css";
import { createRoot } from "react-dom/client";
import { App } from "./app/app.tsx";

const element = document.getElementById("console");
if (element) createRoot(element).render(<App />);
