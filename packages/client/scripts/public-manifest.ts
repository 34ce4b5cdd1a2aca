/** The entries of the package: subpath to source file, without its ending. */
export const ENTRIES: Readonly<Record<string, string>> = {
  '.': 'index',
  './react': 'react',
  './openfeature/server': 'openfeature/server',
  './openfeature/web': 'openfeature/web',
  './testing': 'testing',
  './rollout': 'rollout',
  './handler': 'handler',
  './store': 'store',
  './override': 'override',
  './published': 'published',
};

/** Members of the workspace's manifest that are published as they stand. */
const PUBLISHED = [
  'name',
  'description',
  'keywords',
  'license',
  'type',
  'engines',
  'sideEffects',
  'peerDependencies',
  'peerDependenciesMeta',
];

/** The manifest that is published, made from the one of the workspace: built files instead of sources. */
export function publicManifest(
  workspace: Readonly<Record<string, unknown>>,
  version: string,
): Record<string, unknown> {
  const exports: Record<string, unknown> = {};
  for (const [subpath, entry] of Object.entries(ENTRIES)) {
    exports[subpath] = { types: `./types/client/src/${entry}.d.ts`, default: `./${entry}.js` };
  }
  const { name, ...published } = Object.fromEntries(PUBLISHED.map((member) => [member, workspace[member]]));
  return {
    name,
    version,
    ...published,
    exports: { ...exports, './package.json': './package.json' },
  };
}
