import { join } from 'node:path';
import { temporaryFolder } from '@halyard/testing';
import { CACHE } from '../languages.ts';
import { type PreparedProgram, prepare, run } from '../programs.ts';
import { CHART_CASES, REFUSED } from './cases.ts';
import { type KubernetesObject, objectsIn, podOf } from './objects.ts';
import { brokenRules } from './rules.ts';

const ROOT = join(import.meta.dir, '../..');
const CHART = join(ROOT, 'deploy/helm/halyard');
const MAIN = join(ROOT, 'packages/server/src/main.ts');

/** The versions of Kubernetes whose schemas are used: the oldest that the chart is for, before and after it can sleep, the newest. */
const KUBERNETES = ['1.27', '1.29', '1.30', '1.34', '1.37'];

/**
 * Renders the chart with Helm for each set of values and each version of Kubernetes, checks the objects against the schemas of
 * Kubernetes and the types of other projects, and lets Halyard read the settings of the pods. Gives what was done, or why it was
 * skipped. Rejects with what is wrong.
 */
export async function tryChart(): Promise<{ readonly helm: string; readonly result: string } | string> {
  const tools = await prepare({
    folder: 'chart',
    needs: ['go', 'python3'],
    install: [
      ['python3', '-m', 'venv', '.venv'],
      ['.venv/bin/pip', 'install', '--quiet', '--disable-pip-version-check', '-r', 'requirements.txt'],
      ['go', 'mod', 'download'],
    ],
    build: [
      ['go', 'build', '-o', 'helm', 'helm.sh/helm/v3/cmd/helm'],
      ['go', 'build', '-o', 'custom', '.'],
    ],
  });
  if (typeof tools === 'string') return tools;
  const lint = await helm(tools, ['lint', '--strict', CHART, '--set', 'adminToken.generate=true']);
  if (!lint.ok) throw new Error(lint.text);

  const faults: string[] = [];
  for (const { name, objects: expected } of CHART_CASES) {
    for (const version of KUBERNETES) {
      const rendered = await template(tools, version, ['--values', join(CACHE, `chart/values/${name}.yaml`)]);
      if (!rendered.ok) throw new Error(`${name}: ${rendered.text}`);
      const found = await faultsOf(tools, version, rendered.text);
      faults.push(...found.map((fault) => `${name}: ${fault}`));
      if (version !== KUBERNETES.at(-1)) continue;

      const objects = objectsIn(rendered.text);
      const kinds = objects.map(({ kind }) => kind).toSorted();
      if (kinds.join(' ') !== expected) faults.push(`${name}: has ${kinds.join(' ')}`);
      faults.push(...(await unreadSettings(objects)).map((fault) => `${name}: ${fault}`));
    }
  }

  for (const [options, says] of REFUSED) {
    const { ok, text } = await template(tools, '1.34', ['--set', options]);
    if (ok || !text.includes(says)) faults.push(`${options}: ${ok ? 'is accepted' : text}`);
  }
  if (faults.length > 0) throw new Error(faults.join('\n'));
  const { text: version } = await helm(tools, ['version', '--template', '{{.Version}}']);
  const result = `${CHART_CASES.length} sets of values on Kubernetes ${KUBERNETES.join(', ')}; ${REFUSED.length} refused`;
  return { helm: `Helm ${version}`, result };
}

function helm(tools: PreparedProgram, options: readonly string[]) {
  return run(['./helm', ...options], tools);
}

function template(tools: PreparedProgram, version: string, options: readonly string[]) {
  return helm(tools, [
    'template',
    'flags',
    CHART,
    '--namespace',
    'flags',
    '--kube-version',
    version,
    ...options,
  ]);
}

/** A sentence for each fault of rendered objects. */
async function faultsOf(tools: PreparedProgram, version: string, text: string): Promise<string[]> {
  using folder = temporaryFolder();
  const file = join(folder.path, 'objects.yaml');
  await Bun.write(file, text);

  const shell = (command: string) => run(['sh', '-c', `${command} < "$0"`, file], tools);
  const checks = [await shell(`.venv/bin/python check.py ${version}`), await shell('./custom')];
  const found = checks.flatMap(({ ok, text: output }) => {
    const lines = output.split('\n').filter((line) => line !== '');
    return ok || lines.length > 0 ? lines : ['a check failed without a word'];
  });
  return [...found, ...brokenRules(objectsIn(text))];
}

/** What Halyard says to the variables of the pods when it starts with them, secrets included: nothing, if all is well. */
async function unreadSettings(objects: readonly KubernetesObject[]): Promise<string[]> {
  const [container] = podOf(objects).spec.containers;
  if (container === undefined) return ['no container'];
  using folder = temporaryFolder();
  const env: Record<string, string> = { HALYARD_HOST: '127.0.0.1', HALYARD_PORT: '0', HALYARD_BARE: 'true' };
  for (const { name, value = '' } of container.env) {
    if (name === 'NODE_EXTRA_CA_CERTS') continue;
    env[name] = value.replace('/run/secrets', folder.path);
    if (env[name] !== value) await Bun.write(env[name], secretFor(name));
  }

  // A relay cannot print its settings: it is only asked whether it knows them.
  if (container.args?.[0] === 'relay') {
    const help = await run([process.execPath, MAIN, 'relay', '--help'], { cwd: folder.path, env });
    const options = new Set(help.text.match(/--[a-z-]+/g));
    const unknown = Object.keys(env)
      .filter((name) => name.startsWith('HALYARD_') && name !== 'HALYARD_BARE')
      .map((name) => `--${name.slice('HALYARD_'.length).toLowerCase().replaceAll('_', '-')}`)
      .filter((option) => !options.has(option));
    return unknown.map((option) => `a relay does not know ${option}`);
  }
  const { ok, text } = await run([process.execPath, MAIN, 'serve', '--print-config'], {
    cwd: folder.path,
    env,
  });
  return ok && !/Unknown setting/.test(text) ? [] : [`halyard says: ${text}`];
}

function secretFor(variable: string): string {
  if (variable.includes('DATABASE'))
    return 'postgres://halyard:secret@db.example.com/halyard?sslmode=verify-full';
  return 'a-secret-of-enough-characters';
}
