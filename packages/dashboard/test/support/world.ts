import { afterAll, afterEach, beforeAll } from 'bun:test';
import {
  lastingPort,
  Management,
  type NodeProcess,
  sharedPostgres,
  startNode,
  until,
} from '@halyard/testing';
import type { Browser } from 'playwright-core';
import { buildDashboard } from '../../../../scripts/dashboard/build.ts';
import { sharedBrowser } from '../../../testing/src/browser.ts';
import { ADMIN, type OpenedPage, type OpenOptions, openPage } from './opened-page.ts';

/** A real node and a real browser. */
export interface World {
  readonly node: NodeProcess;
  readonly browser: Browser;
  /** Prepares data, with all permissions. */
  readonly management: Management;
  /** Opens an address in its own window, signed in as the administrator by default. */
  open(path: string, options?: OpenOptions): Promise<OpenedPage>;
  /** Closes all pages. Rejects if the console of one had errors. */
  closePages(): Promise<void>;
  /** Closes all pages and stops the node. */
  close(): Promise<void>;
}

/** The options of a world. */
export interface WorldOptions {
  /** Default: SQLite. On PostgreSQL a world has its own database. */
  readonly engine?: 'SQLite' | 'PostgreSQL';
  /** Without an administrator the first visitor has to set the server up. */
  readonly admin?: 'ready' | 'none';
  /** Settings of the node. */
  readonly env?: Readonly<Record<string, string>>;
  /** More of them, which win over those of the tests, such as `['--port', '4000']`. */
  readonly arguments?: readonly string[];
}

/**
 * Ports of nodes that have ended. The next node takes one over, so that the browser knows the scripts at its address:
 * it need neither fetch nor compile them.
 */
const ports: number[] = [];

let built: Promise<void> | undefined;

/** Builds the dashboard where needed, starts a node with an administrator, and a browser. */
export async function startWorld(options: WorldOptions = {}): Promise<World> {
  const { admin = 'ready', engine = 'SQLite' } = options;
  const env =
    // The link is printed for people only.
    admin === 'none'
      ? { HALYARD_LOG_FORMAT: 'pretty' }
      : { HALYARD_ADMIN_EMAIL: ADMIN.email, HALYARD_ADMIN_PASSWORD: ADMIN.password };
  const database =
    engine === 'PostgreSQL' ? { databaseUrl: await (await sharedPostgres()).createDatabase() } : {};
  // The sources are read once in a run.
  built ??= buildDashboard();
  await built;
  const settings = { env: { ...env, ...options.env }, ...database };
  const browser = await sharedBrowser();
  const port = ports.pop() ?? lastingPort();
  const node = await startNode({
    ...settings,
    arguments: ['--port', String(port), ...(options.arguments ?? [])],
  });
  if (admin === 'ready') await adminReady(node);
  let opened: OpenedPage[] = [];

  const closePages = async () => {
    const closing = opened;
    opened = [];
    const complaints = closing.flatMap((page) => [...page.complaints]);
    for (const page of closing) await page.close();
    if (complaints.length > 0) throw new Error(`pages complained:\n${complaints.join('\n')}`);
  };
  return {
    node,
    browser,
    management: new Management(node),
    open: async (path, options = {}) => {
      const page = await openPage({ browser, node, path, ...options });
      opened.push(page);
      return page;
    },
    closePages,
    close: async () => {
      try {
        await closePages();
      } finally {
        // Stopping gracefully drains streams for a second, and has its own tests.
        await node.kill();
        ports.push(port);
      }
    },
  };
}

/** A world for the tests of a file or a `describe`: it starts and is prepared before them, and closes after them. */
export function sharedWorld(prepare?: (world: World) => unknown, options?: WorldOptions): World {
  let started: World | undefined;
  const world = (): World => {
    if (started === undefined) throw new Error('the world starts before the first test');
    return started;
  };
  beforeAll(async () => {
    started = await startWorld(options);
    await prepare?.(started);
  }, 120_000);
  afterEach(() => started?.closePages());
  afterAll(() => started?.close());
  return {
    get node() {
      return world().node;
    },
    get browser() {
      return world().browser;
    },
    get management() {
      return world().management;
    },
    open: (path, options) => world().open(path, options),
    closePages: () => world().closePages(),
    close: () => world().close(),
  };
}

/** Waits for the administrator of the settings: the node answers requests before creating that account. */
async function adminReady({ url }: NodeProcess): Promise<void> {
  await until('the node creates the administrator of its settings', async () => {
    // As in the API's contract; any other shape fails immediately.
    const session = (await (await fetch(`${url}/api/session`)).json()) as { setupNeeded: boolean };
    return !session.setupNeeded;
  });
}
