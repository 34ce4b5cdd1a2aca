import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import chromium, { inflate } from '@sparticuz/chromium';
import { type Browser, chromium as playwright } from 'playwright-core';
import installed from '../../../node_modules/@sparticuz/chromium/package.json' with { type: 'json' };

let unpacked: Promise<string> | undefined;

/**
 * Starts a real Chromium, without a window. It comes from the package `@sparticuz/chromium` with the fonts and, where
 * the machine lacks them, the libraries it needs. Of the package only the files are used: its arguments fit one page
 * per process and switch off the rules of origins.
 */
export async function launchBrowser(): Promise<Browser> {
  unpacked ??= unpack();
  const folder = await unpacked;
  const executablePath = join(folder, 'chromium');
  const libraries = (await lacksLibraries(executablePath))
    ? { LD_LIBRARY_PATH: join(folder, 'al2023/lib') }
    : {};
  return playwright.launch({
    executablePath,
    timeout: 120_000,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
    env: { ...process.env, FONTCONFIG_FILE: join(folder, 'fonts.conf'), ...libraries },
  });
}

/**
 * The folder with the unpacked browser. The package itself unpacks into the folder of temporary files and takes half
 * a file that another process is still writing for a whole one; so it is done aside and moved when complete.
 */
async function unpack(): Promise<string> {
  const target = join(tmpdir(), `halyard-browser-${installed.version}`);
  if (existsSync(target)) return target;
  const aside = mkdtempSync(`${target}.`);
  const before = process.env.TMPDIR;
  process.env.TMPDIR = aside;
  try {
    await chromium.executablePath();
    await inflate(join(import.meta.dir, '../../../node_modules/@sparticuz/chromium/bin/al2023.tar.br'));
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
  writeFileSync(join(aside, 'fonts.conf'), fontConfiguration(target));
  try {
    renameSync(aside, target);
  } catch (error) {
    // Another process was faster, and its copy is as good.
    if (!existsSync(target)) throw error;
    rmSync(aside, { recursive: true });
  }
  return target;
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
