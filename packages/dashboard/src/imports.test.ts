import { beforeAll, expect, test } from 'bun:test';
import { findImports, findRings, type Import } from '@halyard/testing';

/** The layers, the lowest first: a file imports files of the same layer and of the layers below. */
const LAYERS = ['browser', 'api', 'components', 'changes', 'flags', 'pages', 'shell', 'root'];

let imports: readonly Import[];
beforeAll(async () => {
  imports = (await findImports(import.meta.dir)).filter(({ to }) => !to.startsWith('../'));
});

/** The folder below `src`. The files beside the folders are the root, which composes the screens and their frame. */
function layerOf(file: string): string {
  return /^[^/]+(?=\/)/.exec(file)?.[0] ?? 'root';
}

/** The folder of a screen that a file belongs to; `undefined` for one that belongs to none. */
function screenOf(file: string): string | undefined {
  return /^pages\/([^/]+)\//.exec(file)?.[1];
}

function heightOf(file: string): number {
  return LAYERS.indexOf(layerOf(file));
}

function named(wrong: readonly Import[]): readonly string[] {
  return wrong.map(({ from, to }) => `${from} -> ${to}`);
}

test('the layers of the dashboard point one way', () => {
  expect(imports.length).toBeGreaterThan(500);
  expect(named(imports.filter(({ from, to }) => heightOf(from) < heightOf(to) || heightOf(to) < 0))).toEqual(
    [],
  );
});

test('the frame knows no screen, and a screen loads another one only later', () => {
  const isWrong = ({ from, to, isLazy }: Import) => {
    const isOther = screenOf(to) !== undefined && screenOf(from) !== screenOf(to);
    return isOther && layerOf(from) !== 'root' && (layerOf(from) !== 'pages' || !isLazy);
  };
  expect(named(imports.filter(isWrong))).toEqual([]);
});

test('every part that loads later has an error boundary, so that its failure does not take down the screen', async () => {
  const waiting: string[] = [];
  for await (const path of new Bun.Glob('**/*.tsx').scan(import.meta.dir))
    if ((await Bun.file(`${import.meta.dir}/${path}`).text()).includes('<Suspense')) waiting.push(path);
  expect(waiting).toEqual(['components/part-boundary.tsx']);
});

test('no files of the dashboard import each other in a ring', () => {
  expect(findRings(imports)).toEqual([]);
});
