import { resolve } from 'node:path';

const DOCKERFILE = resolve(import.meta.dir, '../../../Dockerfile');

/** How a container of an image starts, in the words of the OCI image specification and Docker's for the health check. */
export interface ContainerConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly WorkingDir: string;
  readonly ExposedPorts: Readonly<Record<string, object>>;
  readonly Volumes: Readonly<Record<string, object>>;
  readonly Labels: Readonly<Record<string, string>>;
  readonly Healthcheck: Healthcheck;
}

/** Durations in nanoseconds. */
interface Healthcheck {
  readonly Test: readonly string[];
  readonly Interval: number;
  readonly Timeout: number;
  readonly StartPeriod: number;
  readonly StartInterval: number;
  readonly Retries: number;
}

/**
 * What the last stage of our Dockerfile says about a container, so that the image of a release starts as the one of `docker build` does.
 * `variables` stand for the arguments that its labels use. Rejects when the Dockerfile says something that this does not know.
 */
export async function readContainerConfig(
  variables: Readonly<Record<string, string>>,
): Promise<ContainerConfig> {
  const text = (await Bun.file(DOCKERFILE).text()).replaceAll(/^#.*\n/gm, '').replaceAll(/\\\n/g, ' ');
  const stage = text.slice(text.lastIndexOf('\nFROM ')).trim().split('\n').slice(1);
  const said = new Map<string, string>();
  for (const line of stage.filter((line) => line.trim() !== '')) {
    const [, word = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(line.trim()) ?? [];
    // What fills the image copies the files, and arguments are the variables.
    if (word !== 'COPY' && word !== 'ARG') said.set(word, `${said.get(word) ?? ''} ${rest}`.trim());
  }

  const take = (word: string) => {
    const rest = said.get(word);
    if (rest === undefined) throw new Error(`The Dockerfile has no ${word}.`);
    said.delete(word);
    return rest;
  };
  const config = {
    User: take('USER'),
    Env: ['PATH=/usr/local/bin', ...pairsOf(take('ENV')).map((pair) => pair.join('='))],
    Entrypoint: JSON.parse(take('ENTRYPOINT')),
    Cmd: JSON.parse(take('CMD')),
    WorkingDir: take('WORKDIR'),
    ExposedPorts: { [`${take('EXPOSE')}/tcp`]: {} },
    Volumes: { [take('VOLUME')]: {} },
    Labels: Object.fromEntries(
      pairsOf(take('LABEL')).map(([name, value]) => [name, fill(value, variables)] as const),
    ),
    Healthcheck: readHealthcheck(take('HEALTHCHECK')),
  };
  if (said.size > 0)
    throw new Error(`The image of a release does not know ${[...said.keys()]} of the Dockerfile.`);
  return config;
}

function pairsOf(text: string): [name: string, value: string][] {
  return [...text.matchAll(/(\S+?)=(?:"([^"]*)"|(\S*))/g)].map(([, name = '', quoted, bare = '']) => [
    name,
    quoted ?? bare,
  ]);
}

function fill(value: string, variables: Readonly<Record<string, string>>): string {
  return value.replaceAll(/\$(\w+)/g, (_, name: string) => {
    const text = variables[name];
    if (text === undefined) throw new Error(`A label of the Dockerfile uses $${name}, which is not known.`);
    return text;
  });
}

function readHealthcheck(text: string): Healthcheck {
  const seconds = (option: string) => {
    const found = new RegExp(`--${option}=(\\d+)s`).exec(text)?.[1];
    if (found === undefined)
      throw new Error(`The health check of the Dockerfile has no --${option} in seconds.`);
    return Number(found) * 1e9;
  };
  return {
    Test: ['CMD', ...JSON.parse(text.slice(text.indexOf('CMD') + 'CMD'.length))],
    Interval: seconds('interval'),
    Timeout: seconds('timeout'),
    StartPeriod: seconds('start-period'),
    StartInterval: seconds('start-interval'),
    Retries: Number(/--retries=(\d+)/.exec(text)?.[1]),
  };
}
