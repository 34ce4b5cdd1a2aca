/** Writes the documentation as a static site: `bun run build:site` fills `dist/site`. Any web server can serve that folder. */
import { mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { startNode } from '@halyard/testing';
import type { OpenApiDocument } from '../../packages/server/src/http/docs/api-reference.ts';
import { buildSite } from './site.ts';

const OUT = resolve(import.meta.dir, '../../dist/site');

/** Writes the site into a folder, which it empties before. Returns the number of pages. */
export async function writeSite(folder: string): Promise<number> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const site = await buildSite(await readOpenApi());
  for (const [name, text] of site) await Bun.write(join(folder, name), text);
  return [...site.keys()].filter((name) => name.endsWith('.html')).length;
}

/** What a server says about its interface. */
async function readOpenApi(): Promise<OpenApiDocument> {
  const node = await startNode();
  try {
    const answer = await fetch(`${node.url}/api/openapi.json`);
    return JSON.parse(await answer.text());
  } finally {
    await node.stop();
  }
}

if (import.meta.main) process.stdout.write(`dist/site: ${await writeSite(OUT)} pages\n`);
