import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Versions that were measured; others may be installed by hand into the same folder. */
const UNLEASH_EDGE = '20.1.0';
const UNLEASH_SERVER = '8.2.0';

/** Where the peers of package registries are, below the folder that is given. */
export interface PeerFolder {
  readonly unleashEdge: string;
  readonly unleashServer: string;
  readonly nchan: string;
}

/** The places in a folder, whether anything is there or not. */
export function peerFolder(folder: string): PeerFolder {
  return {
    unleashEdge: join(folder, 'unleash-edge/bin/unleash-edge'),
    unleashServer: join(folder, 'npm'),
    nchan: join(folder, 'nchan'),
  };
}

/**
 * Fetches what is missing by its package's name, with the registries' ordinary clients, into the folder and nowhere
 * else. Returns a sentence for each that is not to be had here. Unleash Edge is compiled: some 540 crates,
 * more than ten minutes on two cores that have nothing else to do.
 */
export async function installPeers(folder: string, say: (text: string) => void): Promise<string[]> {
  const places = peerFolder(folder);
  const missing: string[] = [];
  const attempt = async (name: string, isThere: boolean, command: () => Promise<unknown>) => {
    if (isThere) return;
    say(`peers: fetching ${name}`);
    try {
      await command();
    } catch (error) {
      missing.push(`${name} is not to be had here: ${firstLine(error)}`);
    }
  };

  await attempt('Unleash Edge', existsSync(places.unleashEdge), async () => {
    const target = join(folder, 'unleash-edge-build');
    await Bun.$`cargo install unleash-edge --version ${UNLEASH_EDGE} --locked --root ${join(folder, 'unleash-edge')}`
      .env({ ...process.env, CARGO_TARGET_DIR: target })
      .quiet();
  });

  await attempt(
    'the Unleash server',
    existsSync(join(places.unleashServer, 'node_modules/unleash-server')),
    async () => {
      mkdirSync(places.unleashServer, { recursive: true });
      await Bun.$`npm install --prefix . --no-audit --no-fund --ignore-scripts unleash-server@${UNLEASH_SERVER}`
        .cwd(places.unleashServer)
        .quiet();
    },
  );

  await attempt('nchan', existsSync(join(places.nchan, 'usr')), async () => {
    mkdirSync(places.nchan, { recursive: true });
    // Unpacked, not installed: the nginx of this machine stays as it is.
    await Bun.$`apt-get download libnginx-mod-nchan`.cwd(places.nchan).quiet();
    const [file = ''] = readdirSync(places.nchan).filter((name) => name.endsWith('.deb'));
    await Bun.$`dpkg -x ${file} .`.cwd(places.nchan).quiet();
  });

  return missing;
}

function firstLine(error: unknown): string {
  const text = error instanceof Bun.$.ShellError ? error.stderr.toString() : String(error);
  return text.trim().split('\n').at(-1) ?? '';
}
