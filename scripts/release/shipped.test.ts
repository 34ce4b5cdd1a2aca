import { beforeAll, expect, test } from 'bun:test';
import { join, resolve } from 'node:path';
import tailwind from 'bun-plugin-tailwind';
import { thirdPartyNotices } from './notices.ts';
import { billOfMaterials } from './sbom.ts';
import { directDependencies, shippedPackages } from './shipped.ts';

const ROOT = resolve(import.meta.dir, '../..');
const SOURCE = { commit: '0123456789ab', committedAt: new Date('2026-01-02T03:04:05Z') };

/** The packages whose code the bundler puts into the executable and the dashboard. */
let bundled: readonly string[];

beforeAll(async () => {
  const server = await bundledBy({
    entrypoints: [join(ROOT, 'packages/server/src/main.ts')],
    target: 'bun',
  });
  const dashboard = await bundledBy({
    entrypoints: [join(ROOT, 'packages/dashboard/src/main.tsx')],
    target: 'browser',
    external: ['/assets/*'],
    plugins: [tailwind],
  });
  bundled = [...server, ...dashboard];
});

async function bundledBy(config: Bun.BuildConfig): Promise<string[]> {
  const { metafile } = await Bun.build({ ...config, metafile: true });
  const paths = Object.keys(metafile?.inputs ?? {});
  return paths.flatMap((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
}

test('the bill of materials has every direct dependency, and every package that is in the executable or the dashboard', async () => {
  const bill = JSON.parse(await billOfMaterials('1.2.3', SOURCE));
  const names = new Set(bill.components.map(({ name }: { name: string }) => name));
  const direct = await directDependencies();
  expect(bundled).toContain('pg-protocol');
  expect(bundled).toContain('react-dom');
  expect([...direct, ...bundled].filter((name) => !names.has(name))).toEqual([]);
  for (const name of [
    'openapi3-ts',
    'zod',
    'pg',
    'pg-protocol',
    'split2',
    'react',
    'react-dom',
    'bun',
    'libc6',
  ])
    expect(names).toContain(name);
});

test('the bill of materials has each package of bun.lock that is needed once, at its version and with its digest', async () => {
  const bill = JSON.parse(await billOfMaterials('1.2.3', SOURCE));
  const lock = await Bun.file(join(ROOT, 'bun.lock')).text();
  const purls = new Set<string>();
  for (const { name, version, purl, hashes } of bill.components) {
    purls.add(purl);
    if (name === 'bun' || purl.startsWith('pkg:deb/')) continue;
    expect(lock).toContain(`"${name}@${version}"`);
    expect(lock).toContain(`"sha512-${Buffer.from(hashes[0].content, 'hex').toString('base64')}"`);
  }
  expect(purls.size).toBe(bill.components.length);
  // Every reference of the graph leads to a component.
  for (const { ref, dependsOn } of bill.dependencies)
    expect([ref, ...dependsOn].filter((name) => !purls.has(name))).toEqual([]);
});

test('the bill of materials of a commit is always the same, and that of another commit has another serial number', async () => {
  const bill = await billOfMaterials('1.2.3', SOURCE);
  expect(await billOfMaterials('1.2.3', SOURCE)).toBe(bill);
  const { serialNumber, metadata } = JSON.parse(bill);
  expect(serialNumber).toMatch(/^urn:uuid:[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  expect(metadata.timestamp).toBe('2026-01-02T03:04:05.000Z');
  const other = JSON.parse(await billOfMaterials('1.2.3', { ...SOURCE, commit: 'ba9876543210' }));
  expect(other.serialNumber).not.toBe(serialNumber);
});

test('the notices have the text of the license of each package that is shipped, of the fonts and of Bun', async () => {
  const notices = await thirdPartyNotices();
  // Between two headings is a text, not nothing.
  const sections = notices.split(`${'='.repeat(80)}\n`).slice(1);
  const texts = new Map<string, string>();
  for (let i = 0; i < sections.length; i += 2)
    for (const title of (sections[i] ?? '').trim().split('\n')) texts.set(title, sections[i + 1] ?? '');
  for (const { name, version, license } of (await shippedPackages()).values()) {
    const text = texts.get(`${name} ${version} (${license})`);
    expect([name, (text?.length ?? 0) > 500]).toEqual([name, true]);
  }
  expect(texts.get('Inter, JetBrains Mono (OFL-1.1)')).toContain('The Inter Project Authors');
  expect(texts.get(`Bun ${Bun.version}`)).toContain('JavaScriptCore');
  // Its text is in its README only.
  expect(notices).toContain('Copyright (c) 2014 Brian M. Carlson');
});
