import { type AssetPack, readAssetPack } from './asset-pack.ts';

/**
 * The built dashboard: from inside the executable, or from `packages/dashboard/dist` in a checkout. `undefined` in a
 * checkout where it has not been built.
 */
export async function loadBuiltAssets(): Promise<AssetPack | undefined> {
  const path = await builtPack();
  return path === undefined ? undefined : readAssetPack(await Bun.file(path).bytes());
}

/** Imported when it is needed, so that a server without a built dashboard starts all the same. */
async function builtPack(): Promise<string | undefined> {
  try {
    const { default: path } = await import('../../../../dashboard/dist/dashboard.pack', {
      with: { type: 'file' },
    });
    return path;
  } catch {
    // Not built: the page says how.
    return undefined;
  }
}
