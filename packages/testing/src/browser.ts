import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import chromium, { inflate } from '@sparticuz/chromium';
import { type Browser, type LaunchOptions, chromium as playwright } from 'playwright-core';
import installed from '../../../node_modules/@sparticuz/chromium/package.json' with { type: 'json' };
import { temporaryFolder } from './temporary-folder.ts';
import { until } from './waiting.ts';

let shared: Promise<Browser> | undefined;
let unpacked: Promise<string> | undefined;

/** What Playwright 1.65.1 switches off: the browser takes only the last of such lists. */
const OFF_FOR_PLAYWRIGHT = [
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
];

/** Shares are of the processor time that the dashboard's tests take. */
const SWITCHES = [
  '--no-sandbox',
  '--disable-gpu',
  // Pages end before compiled code pays for its compiling: 6 to 10 %. What was parsed is kept for the next page.
  '--js-flags=--no-opt --no-maglev --no-flush-bytecode',
  // A new frame, with its compositor, for every document: 30 ms of a page's 210. Without it a page that is left may hear of the
  // end of its requests. And the change to another group of pages where only one of two has an opener
  // policy, as the dashboard and the page at which a window is emptied: 45 ms. No test opens a page from another.
  `--disable-features=${[...OFF_FOR_PLAYWRIGHT, 'RenderDocument', 'CrossOriginOpenerPolicy'].join(',')}`,
];

/**
 * One browser for all test files of a run (they share one process), started by the first that asks. It ends with the
 * process, whose end closes the pipe that it listens on. Close your contexts.
 */
export function sharedBrowser(): Promise<Browser> {
  shared ??= launchForRun().catch((error: unknown) => {
    // One that was too slow on a busy machine fails the test that waited for it, and not all that follow.
    shared = undefined;
    throw error;
  });
  return shared;
}

/** Its profile is in a folder that goes with this process, because Playwright removes it only when the browser is closed. */
async function launchForRun(): Promise<Browser> {
  const options = await launchOptions();
  return withTemporaryFolder(temporaryFolder().path, () => playwright.launch(options));
}

/**
 * Starts a real Chromium, without a window. It comes from the package `@sparticuz/chromium` with the fonts and, where
 * the machine lacks them, the libraries it needs. Of the package only the files are used: its arguments fit one page
 * per process and switch off the rules of origins.
 */
export async function launchBrowser(): Promise<Browser> {
  return playwright.launch(await launchOptions());
}

async function launchOptions(): Promise<LaunchOptions> {
  unpacked ??= unpack();
  const folder = await unpacked;
  const executablePath = join(folder, 'chromium');
  const libraries = (await lacksLibraries(executablePath))
    ? { LD_LIBRARY_PATH: join(folder, 'al2023/lib') }
    : {};
  return {
    executablePath,
    timeout: 120_000,
    args: SWITCHES,
    ignoreDefaultArgs: hasSharedMemory() ? ['--disable-dev-shm-usage'] : [],
    env: { ...process.env, FONTCONFIG_FILE: join(folder, 'fonts.conf'), ...libraries },
  };
}

/**
 * Whether `/dev/shm` is larger than the 64 MiB of a container. What a page draws lies in shared memory: as files on a
 * disk it takes a tenth to a fifth of the page's processor time.
 */
function hasSharedMemory(): boolean {
  try {
    const { bsize, bavail } = statfsSync('/dev/shm');
    return bsize * bavail >= 1024 ** 3;
  } catch {
    // Only Linux has it.
    return false;
  }
}

/**
 * The folder with the unpacked browser. The package itself unpacks into the folder of temporary files and takes half
 * a file that another process is still writing for a whole one; so it is done aside and moved when complete.
 */
async function unpack(): Promise<string> {
  const target = join(tmpdir(), `halyard-browser-${installed.version}`);
  if (existsSync(target)) return target;
  const lock = `${target}.lock`;
  if (!takes(lock)) {
    // Another process is at it, which takes both processors of a small machine for seconds. If it died, its lock stays.
    const isThere = await until('another process unpacks the browser', () => existsSync(target)).catch(
      () => false,
    );
    if (isThere) return target;
  }

  const aside = mkdtempSync(`${target}.`);
  await withTemporaryFolder(aside, async () => {
    await chromium.executablePath();
    await inflate(join(import.meta.dir, '../../../node_modules/@sparticuz/chromium/bin/al2023.tar.br'));
  });
  writeFileSync(join(aside, 'fonts.conf'), fontConfiguration(target));

  try {
    renameSync(aside, target);
  } catch (error) {
    // Another process was faster, and its copy is as good.
    if (!existsSync(target)) throw error;
    rmSync(aside, { recursive: true });
  }
  rmSync(lock, { recursive: true, force: true });
  return target;
}

/** Whether this process is the first that asks for the lock. */
function takes(lock: string): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch {
    return false;
  }
}

/** Runs something that writes to the folder of temporary files, with another one instead. */
async function withTemporaryFolder<T>(path: string, run: () => Promise<T>): Promise<T> {
  const before = process.env.TMPDIR;
  process.env.TMPDIR = path;
  try {
    return await run();
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
}

/**
 * Names the unpacked fonts, and no others, so that every machine draws the same. The package's own file names folders
 * that only its usual host has, and without a font Chromium draws no text at all.
 */
function fontConfiguration(folder: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${Bun.escapeHTML(join(folder, 'fonts/fonts'))}</dir>
  <cachedir>${Bun.escapeHTML(join(folder, 'fonts-cache'))}</cachedir>
</fontconfig>
`;
}

/** Whether the loader misses a library of the executable. */
async function lacksLibraries(executable: string): Promise<boolean> {
  const loader = Bun.spawn(['ldd', executable], { stdout: 'pipe', stderr: 'ignore' });
  return (await new Response(loader.stdout).text()).includes('not found');
}
