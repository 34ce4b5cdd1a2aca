import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type ShippedPackage, shippedPackages } from './shipped.ts';

const ROOT = resolve(import.meta.dir, '../..');
const KEPT = join(import.meta.dir, 'licenses');

/** Packages that come without the text of their license, and packages of the same authors, under the same one, that have it. */
const SAME_LICENSE: Readonly<Record<string, string>> = {
  'bun-plugin-tailwind': 'tailwindcss',
  'react-remove-scroll-bar': 'react-remove-scroll',
};

const RULE = '='.repeat(80);

/**
 * The notices that go with a release: each package that is in the executable or the dashboard, with the text of its license, the
 * fonts, and Bun. Rejects when a text is missing.
 */
export async function thirdPartyNotices(): Promise<string> {
  const holders = new Map<string, string[]>();
  for (const shipped of (await shippedPackages()).values()) {
    const text = await licenseText(shipped);
    const title = `${shipped.name} ${shipped.version} (${shipped.license})`;
    holders.set(text, [...(holders.get(text) ?? []), title]);
  }

  const fonts = await Bun.file(join(ROOT, 'packages/dashboard/src/fonts/OFL.txt')).text();
  const runtime = await Bun.file(join(KEPT, 'bun.md')).text();
  const sections = [
    ...[...holders].map(([text, titles]) => section(titles, text)),
    section(['Inter, JetBrains Mono (OFL-1.1)'], fonts),
    section([`Bun ${Bun.version}`], runtime),
    section(['GNU Library General Public License 2.0'], await Bun.file(join(KEPT, 'lgpl-2.0.txt')).text()),
    section(['GNU Lesser General Public License 2.1'], await Bun.file(join(KEPT, 'lgpl-2.1.txt')).text()),
  ];
  return `The executable of Halyard and its dashboard contain the following software.\n\n${sections.join('\n')}`;
}

function section(titles: readonly string[], text: string): string {
  return `${RULE}\n${titles.join('\n')}\n${RULE}\n\n${text.trim()}\n`;
}

async function licenseText(shipped: ShippedPackage): Promise<string> {
  const donor = SAME_LICENSE[shipped.name];
  const folder = donor === undefined ? shipped.folder : join(ROOT, 'node_modules', donor);
  const text = (await packedText(folder)) ?? (await readmeSection(folder)) ?? (await keptText(shipped.name));
  if (text === undefined)
    throw new Error(`${shipped.name} comes without a license: add its text to scripts/release/licenses`);
  return text;
}

/** The files of a package that hold its license and its notices. */
async function packedText(folder: string): Promise<string | undefined> {
  const names = (await readdir(folder)).filter((name) => /^(?:licen[sc]e|copying|notice)/i.test(name)).sort();
  const texts = await Promise.all(names.map((name) => Bun.file(join(folder, name)).text()));
  return texts.length === 0 ? undefined : texts.map((text) => text.trim()).join('\n\n');
}

/** Some packages have the text in their README only. A mere name of a license is no text. */
async function readmeSection(folder: string): Promise<string | undefined> {
  const readme = Bun.file(join(folder, 'README.md'));
  if (!(await readme.exists())) return undefined;
  const [, text] = /^#+ licen[sc]e\s*\n([\s\S]+?)(?=^#|$(?![\s\S]))/im.exec(await readme.text()) ?? [];
  return text?.includes('Permission is hereby granted') ? text.trim() : undefined;
}

async function keptText(name: string): Promise<string | undefined> {
  const file = Bun.file(join(KEPT, `${name.replaceAll('/', '-')}.txt`));
  return (await file.exists()) ? file.text() : undefined;
}
