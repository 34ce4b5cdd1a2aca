import { basename, extname, join } from 'node:path';
import tailwind from 'bun-plugin-tailwind';
import { mergeShared } from './merge.ts';

const SOURCE = join(import.meta.dir, '../../packages/dashboard/src');

/** A file of the dashboard as it is served. */
export interface Asset {
  /** Its address, as `/assets/main-x2b9.js`. */
  readonly path: string;
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.html': 'text/html; charset=utf-8',
};

/**
 * Bundles the dashboard for browsers: hashed names, lazy chunks, nothing inline, so that the page runs under a policy
 * that allows its own files only. The first asset is the page itself, at `/`.
 */
export async function bundle(): Promise<Asset[]> {
  const result = await Bun.build({
    entrypoints: [join(SOURCE, 'main.tsx'), join(SOURCE, 'theme-boot.ts')],
    target: 'browser',
    format: 'esm',
    splitting: true,
    minify: true,
    publicPath: '/assets/',
    naming: { entry: '[name]-[hash].[ext]', chunk: 'chunk-[hash].[ext]', asset: '[name]-[hash].[ext]' },
    // Fonts keep their names, and stay out of the style sheet.
    external: ['/assets/*'],
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [tailwind],
    // Its list names files that are merged afterwards.
    modulePreload: false,
  });
  if (!result.success) throw new AggregateError(result.logs, 'the dashboard cannot be built');
  const outputs = await withMerged(await Promise.all(result.outputs.map(assetOf)));
  const icon: Asset = {
    path: '/favicon.svg',
    type: TYPES['.svg'] ?? '',
    bytes: await Bun.file(join(SOURCE, 'favicon.svg')).bytes(),
  };
  const files = [...outputs, ...(await fonts())];
  return [await page(files), icon, ...files];
}

/** The files, of which what screens share is in one. */
async function withMerged(outputs: readonly Asset[]): Promise<Asset[]> {
  const type = TYPES['.js'] ?? '';
  const scripts = outputs.filter((asset) => asset.type === type);
  const decoder = new TextDecoder();
  const merged = await mergeShared(new Map(scripts.map(({ path, bytes }) => [path, decoder.decode(bytes)])));
  const encoder = new TextEncoder();
  const files = [...merged].map(([path, text]) => ({ path, type, bytes: encoder.encode(text) }));
  return [...files, ...outputs.filter((asset) => asset.type !== type)];
}

/** The fonts. Their names hold a part of their SHA-256: a changed font needs a new name, as every file that is kept for ever. */
async function fonts(): Promise<Asset[]> {
  const names = [...new Bun.Glob('*.woff2').scanSync(join(SOURCE, 'fonts'))].sort();
  return Promise.all(
    names.map(async (name) => ({
      path: `/assets/${name}`,
      type: TYPES['.woff2'] ?? '',
      bytes: await Bun.file(join(SOURCE, 'fonts', name)).bytes(),
    })),
  );
}

async function assetOf(output: Bun.BuildArtifact): Promise<Asset> {
  const name = basename(output.path);
  const type = TYPES[extname(name)];
  if (type === undefined) throw new Error(`the dashboard has a file of an unknown kind: ${name}`);
  return { path: `/assets/${name}`, type, bytes: new Uint8Array(await output.arrayBuffer()) };
}

/** Larger files are not fetched ahead of time: the editor of values, in bytes. */
const LARGEST_PART = 200_000;

/** The page names the files of this build: those it needs at once, and those that its screens will need. */
async function page(outputs: readonly Asset[]): Promise<Asset> {
  const template = await Bun.file(join(SOURCE, 'index.html')).text();
  const parts = outputs.filter(
    ({ path, bytes }) => /\/(chunk|shared)-/.test(path) && bytes.length < LARGEST_PART,
  );
  const html = template.replaceAll(/\{\{(.+?)\}\}/g, (_, pattern: string) => {
    if (pattern === 'parts') return parts.map(({ path }) => path).join(' ');
    const matcher = new Bun.Glob(`/assets/${pattern}`);
    const matching = outputs.filter(({ path }) => matcher.match(path));
    if (matching.length !== 1)
      throw new Error(`${matching.length} built files match ${pattern} instead of one`);
    return matching[0]?.path ?? '';
  });
  return { path: '/', type: TYPES['.html'] ?? '', bytes: new TextEncoder().encode(html) };
}
