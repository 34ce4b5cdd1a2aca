import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Versions that were measured; others may be installed by hand into the same folder. */
const UNLEASH_EDGE = '20.1.0';
const UNLEASH_SERVER = '8.2.0';
/** Where npm puts the Unleash server, below its folder. */
export const NPM_SERVER = 'node_modules/unleash-server';

/** Where the peers of package registries are below the folder, whether anything is there or not. */
export function peerFolder(folder: string) {
  return {
    unleashEdge: { path: join(folder, 'unleash-edge/bin/unleash-edge'), root: undefined },
    unleashServer: { path: join(folder, 'npm', NPM_SERVER), root: join(folder, 'npm') },
    nchan: {
      path: join(folder, 'nchan/usr/lib/nginx/modules/ngx_nchan_module.so'),
      root: join(folder, 'nchan'),
    },
  } as const;
}

/**
 * Fetches what is missing by its package's name, with the registries' ordinary clients, into the folder and nowhere
 * else. Returns a sentence for each that is not available here. Unleash Edge is compiled: some 540 crates,
 * more than ten minutes on two cores that have nothing else to do.
 */
export async function installPeers(folder: string, say: (text: string) => void): Promise<string[]> {
  const places = peerFolder(folder);
  const commands = {
    unleashEdge: () =>
      Bun.$`cargo install unleash-edge --version ${UNLEASH_EDGE} --locked --root ${join(folder, 'unleash-edge')}`.env(
        {
          ...process.env,
          CARGO_TARGET_DIR: join(folder, 'unleash-edge-build'),
        },
      ),
    unleashServer: () =>
      Bun.$`npm install --prefix . --no-audit --no-fund --ignore-scripts unleash-server@${UNLEASH_SERVER}`.cwd(
        places.unleashServer.root,
      ),
    // Unpacked, not installed: the nginx of this machine stays as it is.
    nchan: async () => {
      const { root } = places.nchan;
      await Bun.$`apt-get download libnginx-mod-nchan`.cwd(root).quiet();
      const [file = ''] = readdirSync(root).filter((name) => name.endsWith('.deb'));
      return await Bun.$`dpkg -x ${file} .`.cwd(root).quiet();
    },
  };

  const missing: string[] = [];
  for (const name of ['unleashEdge', 'unleashServer', 'nchan'] as const) {
    const { path, root } = places[name];
    if (existsSync(path)) continue;
    say(`peers: fetching ${name}`);
    if (root !== undefined) mkdirSync(root, { recursive: true });
    try {
      await commands[name]();
    } catch (error) {
      const text = error instanceof Bun.$.ShellError ? error.stderr.toString() : String(error);
      missing.push(`${name} is not available here: ${text.trim().split('\n').at(-1) ?? ''}`);
    }
  }
  return missing;
}
