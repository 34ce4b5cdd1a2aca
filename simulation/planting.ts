import { PLANTS, type Plant } from './plants.ts';

export function plantNamed(name: string): Plant {
  const found = PLANTS.find((each) => each.name === name);
  if (found === undefined) throw new Error(`there is no plant ${name}`);
  return found;
}

/** Its file with the line broken. Throws if the line is not there. */
export async function planted({ name, file, from, to }: Plant): Promise<string> {
  const text = await Bun.file(`${import.meta.dir}/../packages/${file}`).text();
  const parts = text.split(from);
  if (parts.length !== 2) throw new Error(`${name}: ${file} has its line ${parts.length - 1} times`);
  return parts.join(to);
}

/** From now on this process imports the broken file. */
export function plant(broken: Plant): void {
  const path = broken.file.replaceAll(/[.]/g, '\\.');
  Bun.plugin({
    name: 'plant',
    setup(build) {
      const load = async () => ({ contents: await planted(broken), loader: 'ts' as const });
      build.onLoad({ filter: new RegExp(`/packages/${path}$`) }, load);
    },
  });
}

/** Tries each plant in a process of its own, and prints after how many histories it was found. Returns the exit code. */
export async function runPlants(histories: number): Promise<number> {
  let missed = 0;
  for (const { name } of PLANTS) {
    const args = ['--plant', name, '--seed', '1', '--histories', String(histories), '--minutes', '10'];
    const child = Bun.spawn([process.execPath, `${import.meta.dir}/run.ts`, ...args], { stderr: 'pipe' });
    const [said, failed] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    const [, count, verdict = 'broke'] = /^(\d+) histories, (found|not found)$/m.exec(said) ?? [];
    const kinds = [...said.matchAll(/^ {2}\[(\w+)\]/gm)].map(([, kind]) => kind);
    if (verdict === 'not found') missed++;
    const detail = verdict === 'broke' ? failed.trim().split('\n').at(-1) : kinds.join(', ');
    process.stdout.write(`| ${name} | ${verdict === 'found' ? count : verdict} | ${detail} |\n`);
  }
  return missed === 0 ? 0 : 1;
}
