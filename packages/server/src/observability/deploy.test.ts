import { describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { RELAY_SETTINGS } from '../config/relay-config.ts';
import { isSecret, SETTING_NAMES, variableOf } from '../config/settings.ts';

const ROOT = join(import.meta.dir, '../../../..');

/** A member of the schema of the chart's values. */
interface Schema {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly additionalProperties?: unknown;
}

/** Every name of a metric in a text. */
function metricsIn(text: string): string[] {
  const names = [...text.matchAll(/\bhalyard_[a-z_]+/g)].map(([name]) => name.replace(/_bucket$/, ''));
  return [...new Set(names)].sort();
}

test('alerts and the dashboard of Grafana use metrics that their page lists', () => {
  const page = readFileSync(join(ROOT, 'docs/operations/metrics.md'), 'utf8');
  for (const file of ['prometheus/alerts.yml', 'grafana/halyard.json']) {
    const used = metricsIn(readFileSync(join(ROOT, 'deploy', file), 'utf8'));
    expect(used.length).toBeGreaterThan(5);
    const unknown = used.filter(
      (name) => !page.includes(`\`${name}\``) && !name.startsWith('halyard_process_'),
    );
    expect([file, unknown]).toEqual([file, []]);
  }
});

test('the unit of the backup is as confined as that of the node: it has the same secrets', () => {
  const [node = '', backup = ''] = ['halyard', 'halyard-backup'].map((name) =>
    readFileSync(join(ROOT, `deploy/systemd/${name}.service`), 'utf8'),
  );
  const confined = /^NoNewPrivileges=yes\n[\s\S]*^SystemCallFilter=.*$/m.exec(node)?.[0] ?? '';
  expect(confined.split('\n').length).toBeGreaterThan(15);
  expect(backup).toContain(confined);
});

test('every node of compose.yaml keeps its data folder in a volume of its own', () => {
  const compose = parse(readFileSync(join(ROOT, 'compose.yaml'), 'utf8'), { merge: true });
  const nodes = Object.entries<{ image: string; volumes?: string[] }>(compose.services).filter(
    ([, { image }]) => image === 'halyard:local',
  );
  expect(nodes.map(([name]) => name)).toEqual(['halyard', 'node-a', 'node-b', 'node-c']);
  const volumes = nodes.map(([, service]) => service.volumes?.[0]?.replace(':/data', ''));
  expect(volumes).toEqual(['data', 'node-a', 'node-b', 'node-c']);
  expect(Object.keys(compose.volumes)).toEqual(expect.arrayContaining(volumes));
});

describe('the chart', () => {
  const folder = join(ROOT, 'deploy/helm/halyard');
  const values = parse(readFileSync(join(folder, 'values.yaml'), 'utf8'));
  const templates = new Map(
    readdirSync(join(folder, 'templates')).map((name) => [
      name,
      readFileSync(join(folder, 'templates', name), 'utf8'),
    ]),
  );
  const text = [...templates.values()].join('');

  test('uses every value that it offers, and no other', () => {
    const used = new Set([...text.matchAll(/\.Values\.(\w+)/g)].map(([, name]) => name));
    expect([...used].sort()).toEqual(Object.keys(values).sort());
    for (const [, group = '', name = ''] of text.matchAll(/\.Values\.(\w+)\.(\w+)/g))
      if (group !== 'settings') expect(values[group]).toHaveProperty(name);
  });

  test('describes every value that it offers in its schema, and keeps SQLite to one node', () => {
    const schema = JSON.parse(readFileSync(join(folder, 'values.schema.json'), 'utf8'));
    const { global: _, ...described } = schema.properties;
    expect(Object.keys(described).sort()).toEqual(Object.keys(values).sort());
    for (const [name, { properties, additionalProperties }] of Object.entries<Schema>(described))
      if (properties) {
        expect([name, Object.keys(properties).sort()]).toEqual([name, Object.keys(values[name]).sort()]);
        expect([name, additionalProperties]).toEqual([name, false]);
      }
    expect(schema.allOf[0].then.properties.replicas).toEqual({ maximum: 1 });
    // A secret in `settings` would be in clear text in the cluster.
    const refused: string[] = schema.properties.settings.propertyNames.not.enum;
    expect(refused).toEqual(expect.arrayContaining(SETTING_NAMES.filter(isSecret).map(variableOf)));
  });

  test('hides no setting behind the variables of services: one called halyard would make HALYARD_PORT', () => {
    expect(text).toContain('enableServiceLinks: false');
  });

  test('names settings that exist, and files only for secrets', () => {
    const both = ['HALYARD_TOKEN', 'HALYARD_RELAY_TOKEN'];
    const known = new Set([...both, ...[...SETTING_NAMES, ...Object.keys(RELAY_SETTINGS)].map(variableOf)]);
    const secrets = new Set([...both, ...SETTING_NAMES.filter(isSecret).map(variableOf)]);
    for (const [, name = '', file] of text.matchAll(/\b(HALYARD_[A-Z_]+?)(_FILE)?\b/g))
      expect([name, (file === undefined ? known : secrets).has(name)]).toEqual([name, true]);
  });

  test('generates a token only where it is asked to, as each rendering would have another one', () => {
    const random = [...templates].filter(([, template]) => template.includes('rand'));
    expect(random.map(([name]) => name)).toEqual(['secret.yaml']);
    expect(random[0]?.[1]).toStartWith('{{- if and .Values.adminToken.generate ');
    expect(values.adminToken).toMatchObject({ existingSecret: '', generate: false });
  });

  test('keeps the reads while no node is ready, and never restarts a node for it', () => {
    expect(values.readinessPath).toBe('/readyz?for=reads');
    const probed = [...text.matchAll(/(\w+)Probe:\s+httpGet: \{ path: ([^,]+),/g)];
    expect(probed.map(([, kind, path]) => `${kind} ${path}`)).toEqual([
      'startup /healthz',
      'liveness /healthz',
      'readiness {{ .Values.readinessPath | quote }}',
    ]);
  });
});

test('the chart has the version of the program, and its values and the alerts are valid YAML', () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const chart = parse(readFileSync(join(ROOT, 'deploy/helm/halyard/Chart.yaml'), 'utf8'));
  expect(chart).toMatchObject({ version, appVersion: version });
  for (const file of ['helm/halyard/values.yaml', 'prometheus/alerts.yml', 'traefik/dynamic.yml'])
    expect(typeof parse(readFileSync(join(ROOT, 'deploy', file), 'utf8'))).toBe('object');
});
