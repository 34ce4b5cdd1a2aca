/** Builds the dashboard where it is not built yet: `bun run build:dashboard` writes `packages/dashboard/dist`. */
import { buildDashboard } from './dashboard/build.ts';

await buildDashboard();
