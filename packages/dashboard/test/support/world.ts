import { afterAll, beforeAll } from 'bun:test';
import { Management, type NodeProcess, sharedPostgres, startNode, until } from '@halyard/testing';
import type { Browser } from 'playwright-core';
import { buildDashboard } from '../../../../scripts/dashboard/build.ts';
import { launchBrowser } from '../../../testing/src/browser.ts';
import { ADMIN, type OpenedPage, type OpenOptions, openPage } from './opened-page.ts';

/** A real node and a real browser. */
export interface World {
  readonly node: NodeProcess;
  readonly browser: Browser;
  /** Prepares data, with all permissions. */
  readonly management: Management;
  /** Opens an address in its own window, signed in as the administrator by default. */
  open(path: string, options?: OpenOptions): Promise<OpenedPage>;
  /** Stops the node and the browser. Rejects if the console of a page had errors. */
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
  await buildDashboard();
  const settings = { env: { ...env, ...options.env }, arguments: options.arguments ?? [], ...database };
  const [node, browser] = await Promise.all([startNode(settings), launchBrowser()]);
  if (admin === 'ready') await adminReady(node);
  const opened: OpenedPage[] = [];
  return {
    node,
    browser,
    management: new Management(node),
    open: async (path, options = {}) => {
      const page = await openPage({ browser, node, path, ...options });
      opened.push(page);
      return page;
    },
    close: async () => {
      // In this order: a page that loses its server reports errors.
      await browser.close();
      // Stopping gracefully drains streams for a second, and has its own tests.
      await node.kill();
      const complaints = opened.flatMap((page) => page.complaints);
      if (complaints.length > 0) throw new Error(`pages complained:\n${complaints.join('\n')}`);
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
