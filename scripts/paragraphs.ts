/**
 * Counts the functions that have paragraphs, per package: `bun scripts/paragraphs.ts [folder…]`. With folders it also
 * names the long functions there that have none. Tests are not counted.
 */
import { readFileSync } from 'node:fs';
import { formatTable } from '../bench/table.ts';

/** A function's body. */
interface Body {
  readonly place: string;
  readonly path: string;
  readonly lines: readonly string[];
}

const isTest = (path: string) => /\.test\.|(^|\/)test-|\/test\/|^conformance\//.test(path);

/** Every body of 20 lines or more, found by the linter's own parser. */
function longBodies(folders: readonly string[]): Body[] {
  const pattern = 'JsFunctionBody() as $body where { $body <: r"[^\\n]*(?:\\n[^\\n]*){19,}" }';
  const command = ['bunx', 'biome', 'search', '--max-diagnostics=none', '--reporter=json', pattern];
  const { stdout } = Bun.spawnSync([...command, ...folders], { stderr: 'ignore' });
  const { diagnostics } = JSON.parse(stdout.toString());

  const bodies: Body[] = [];
  for (const { location } of diagnostics) {
    const { path, start, end } = location;
    if (isTest(path)) continue;
    const lines = readFileSync(path, 'utf8').split('\n');
    bodies.push({ place: `${path}:${start.line}`, path, lines: lines.slice(start.line - 1, end.line) });
  }
  return bodies;
}

const hasParagraphs = ({ lines }: Body) => lines.some((line) => line.trim() === '');
const packageOf = ({ path }: Body) => /^(packages\/)?[^/]+/.exec(path)?.[0] ?? path;

const folders = process.argv.slice(2);
const bodies = longBodies(folders.length === 0 ? ['.'] : folders);
const lines = [...Map.groupBy(bodies, packageOf)].toSorted().map(([name, all]) => {
  const share = (all.filter(hasParagraphs).length / all.length) * 100;
  const walls = all.filter((body) => body.lines.length > 30 && !hasParagraphs(body)).length;
  return [name, `${all.length}`, `${share.toFixed(0)} %`, `${walls}`];
});
const headings = ['package', '20 lines or more', 'with paragraphs', 'over 30 without'];
process.stdout.write(`${formatTable({ headings, lines })}\n`);

if (folders.length > 0) {
  const walls = bodies.filter((body) => body.lines.length > 30 && !hasParagraphs(body));
  for (const { place, lines } of walls) process.stdout.write(`${place} (${lines.length} lines)\n`);
}
